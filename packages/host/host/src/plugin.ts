import { type Expression, isExpression, suggestion } from '@dsh/compose/core'
import { type Context, isConstructor } from '@dsh/cordis'
import { DshError } from '@dsh/core'

/** A row's module in one shape, whatever it exported. */
export interface RowPlugin {
  readonly name: string | undefined
  /** Needed services, with the intercept config of each. */
  readonly inject: Readonly<Record<string, unknown>>
  readonly Config: StandardSchema | undefined
  readonly start: (ctx: Context, config: unknown) => unknown
}

export interface StandardSchema {
  readonly '~standard': {
    validate(value: unknown): SchemaResult | PromiseLike<SchemaResult>
  }
}
type SchemaResult = { readonly value?: unknown; readonly issues?: readonly SchemaIssue[] | undefined }
type SchemaIssue = {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
  /** What zod says of unknown keys. */
  readonly keys?: readonly unknown[]
}

type Entry = (...args: any[]) => unknown

/** Reads a module namespace: `default` wins over named exports, and may itself be a namespace. */
export function rowPlugin(module: unknown): RowPlugin {
  let exported = defaultOf(module)
  if (isObject(exported) && exported['__esModule']) exported = defaultOf(exported)
  const entry = typeof exported === 'function' ? exported : isObject(exported) ? exported['apply'] : undefined
  if (typeof entry !== 'function') {
    throw new DshError(
      'ROW_MODULE',
      `invalid plugin, expect function or object with an "apply" method, received ${typeof exported}; write: export async function apply(ctx, config) {}`,
    )
  }
  const meta = exported as Record<string, unknown>
  const name = typeof meta['name'] === 'string' && meta['name'] !== 'apply' ? meta['name'] : undefined
  return {
    name,
    inject: injectOf(meta['inject']),
    Config: schemaOf(meta['Config']),
    start: starter(exported, entry as Entry),
  }
}

/**
 * An entry point is called, never constructed, unless it is written as a class: cordis would `new` every plain
 * function declaration, and lose the disposer or promise that it returns.
 */
function starter(exported: unknown, entry: Entry): RowPlugin['start'] {
  if (isClass(entry)) {
    return async (ctx, config) => {
      await ctx.plugin(entry as never, config as never)
    }
  }
  return (ctx, config) => Reflect.apply(entry, exported === entry ? undefined : exported, [ctx, config])
}

function isClass(entry: Entry): boolean {
  return isConstructor(entry) && /^class\b/.test(Function.prototype.toString.call(entry))
}

export function injectOf(inject: unknown): Record<string, unknown> {
  if (Array.isArray(inject)) return Object.fromEntries(inject.map((name: string) => [name, null]))
  return isObject(inject) ? { ...inject } : {}
}

/** The validated config; throws one line that names every bad key. `written` still has the expressions in it. */
export function validateConfig(schema: StandardSchema | undefined, config: unknown, written: unknown): unknown {
  if (schema === undefined) return config
  const result = schema['~standard'].validate(config)
  if ('then' in result) throw new DshError('ROW_CONFIG', 'async config validation is not supported')
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(
    (issue) => `${issue.message}${nearKey(schema, issue)}${placeOf(issue.path, written)}`,
  )
  throw new DshError('ROW_CONFIG', `invalid config: ${issues.join('; ')}`)
}

/** For a single unknown key: the key of the schema that is near. Reads what zod shows of its objects, and nothing else. */
function nearKey(schema: StandardSchema, { keys, path = [] }: SchemaIssue): string {
  if (keys?.length !== 1) return ''
  const shape = path.reduce((at, part) => shapeOf(isObject(at) ? at[String(part)] : undefined), shapeOf(schema))
  if (!isObject(shape)) return ''
  const known = Object.keys(shape)
  const near = suggestion(String(keys[0]), known)
  return near !== '' || known.length === 0 ? near : ` — it takes ${known.join(', ')}`
}

function shapeOf(schema: unknown): unknown {
  let at = schema
  for (let depth = 0; isObject(at) && depth < 8; depth++) {
    if (isObject(at['shape'])) return at['shape']
    const def = at['def']
    at = isObject(def) ? (def['innerType'] ?? def['in']) : undefined
  }
  return undefined
}

function placeOf(path: readonly unknown[] | undefined, written: unknown): string {
  if (path === undefined || path.length === 0) return ''
  const keys = path.map((part) => String(isObject(part) && 'key' in part ? part['key'] : part))
  let at = written
  for (const key of keys) if (isObject(at) && !isExpression(at)) at = at[key]
  return ` (at ${keys.join('.')}${isExpression(at) ? `, from ${expressionText(at)}` : ''})`
}

/** The variables that gave a value, or the expression itself. */
function expressionText({ kind, source, tag }: Expression): string {
  const read =
    kind === 'env' ? [source] : [...source.matchAll(/process\.env(?:\.|\[['"])(\w+)/g)].map(([, name]) => name)
  if (kind === 'home' || read.length === 0) return `${tag} ${source}`
  return read
    .map((name) => (process.env[name as string] === undefined ? `${name}, which is not set` : name))
    .join(' and ')
}

function schemaOf(value: unknown): StandardSchema | undefined {
  return (isObject(value) || typeof value === 'function') && '~standard' in (value as object)
    ? (value as unknown as StandardSchema)
    : undefined
}

function defaultOf(value: unknown): unknown {
  return isObject(value) ? (value['default'] ?? value) : value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
