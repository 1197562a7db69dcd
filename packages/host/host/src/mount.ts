import { isExpression, type RowNode } from '@dsh/compose/core'
import { type Context, type Fiber, FiberPhase, fiberError } from '@dsh/cordis'
import { DshError, errorText } from '@dsh/core'
import { type ExpressionScope, evaluate, interpolate } from './interpolate.ts'
import { injectOf, type RowPlugin, rowPlugin, validateConfig } from './plugin.ts'

/** Gives the module of a row name; throws when there is none. */
export type LoadModule = (name: string) => Promise<unknown>

export type KnownConfig = (rowName: string, config: unknown) => unknown

/** A row of the running tree. */
export interface MountedRow {
  readonly row: RowNode
  readonly state: 'disabled' | 'failed' | 'mounted'
  /** Why it never got as far as a fiber. */
  readonly error?: unknown
  readonly fiber?: Fiber
  readonly inject: readonly string[]
  readonly children?: readonly MountedRow[]
}

export interface MountOptions {
  readonly load: LoadModule
  readonly home: (path: string) => string
  /** Realms by label: rows that name the same label share one. */
  readonly realms: Map<string, symbol>
  readonly knownConfig: KnownConfig | undefined
  /** True once the program is ending: nothing may start any more. */
  readonly closing: () => boolean
}

/** A row that is ready to start: its module is loaded. `fault` is what went wrong on the way there. */
export interface PreparedRow {
  readonly fault?: unknown
  readonly start: (parent: Context) => Promise<MountedRow>
}

/** Everything that may wait happens here, before any row starts; the starts then run in list order. */
export async function prepareRow(ctx: Context, row: RowNode, options: MountOptions): Promise<PreparedRow> {
  try {
    if (isDisabled(row, { ctx, home: options.home }))
      return { start: async () => ({ row, inject: [], state: 'disabled' }) }
    const children = row.name === 'cordis:include' ? await includedRows(row) : row.children
    if (children !== undefined) return await prepareGroup(ctx, row, children, options)
    if (row.name.startsWith('cordis:')) throw new DshError('ROW_NAME', `unknown builtin "${row.name}"`)
    const plugin = rowPlugin(await loadRow(row.name, options.load))
    return { start: async (parent) => startRow(rowContext(parent, row, options.realms), row, plugin, options) }
  } catch (error) {
    return { fault: error, start: async () => ({ row, inject: [], state: 'failed', error }) }
  }
}

async function loadRow(name: string, load: LoadModule): Promise<unknown> {
  try {
    return await load(name)
  } catch (error) {
    throw await (await import('./load-fault.ts')).loadFault(error, name)
  }
}

/** Its own chunk: few compositions include a file. */
async function includedRows(row: RowNode): Promise<readonly RowNode[]> {
  return (await import('./include.ts')).includedRows(row)
}

async function prepareGroup(
  ctx: Context,
  row: RowNode,
  children: readonly RowNode[],
  options: MountOptions,
): Promise<PreparedRow> {
  const prepared = await Promise.all(children.map((child) => prepareRow(ctx, child, options)))
  const fault = prepared.find((child) => child.fault !== undefined)?.fault
  const inject = injectOf(row.fields['inject'])
  const start = async (parent: Context): Promise<MountedRow> => {
    const mounted: MountedRow[] = []
    const handle = rowContext(parent, row, options.realms).plugin({
      name: row.id,
      inject,
      apply: async (inner: Context) => {
        mounted.length = 0
        for (const child of prepared) mounted.push(await child.start(inner))
      },
    })
    await handle.then(undefined, () => {})
    return { row, inject: Object.keys(inject), state: 'mounted', fiber: originalFiber(handle), children: mounted }
  }
  return fault === undefined ? { start } : { fault, start }
}

function startRow(ctx: Context, row: RowNode, plugin: RowPlugin, options: MountOptions): MountedRow {
  const inject = { ...plugin.inject, ...injectOf(row.fields['inject']) }
  // Config is evaluated inside, after every injection is active; cordis would validate it before any is.
  const handle = ctx.plugin({
    name: row.id,
    inject,
    apply: (inner: Context) => {
      const written = row.fields['config']
      const config = interpolate(written, { ctx: inner, home: options.home })
      return plugin.start(inner, options.knownConfig?.(row.name, config) ?? validConfig(plugin, config, written))
    },
  })
  return { row, inject: Object.keys(inject), state: 'mounted', fiber: originalFiber(handle) }
}

function validConfig({ Config }: RowPlugin, config: unknown, written: unknown): unknown {
  return validateConfig(Config, Config === undefined ? config : (config ?? {}), written)
}

/** `ctx.plugin` hands out a derived object; what the fiber itself writes is on its prototype. */
function originalFiber(handle: Fiber): Fiber {
  return Object.getPrototypeOf(handle) as Fiber
}

function rowContext(parent: Context, row: RowNode, realms: Map<string, symbol>): Context {
  let ctx = parent
  for (const [service, realm] of Object.entries((row.fields['isolate'] ?? {}) as Record<string, true | string>)) {
    ctx = ctx.isolate(service as never, realm === true ? Symbol(service) : realmSymbol(realms, service, realm))
  }
  for (const [service, config] of Object.entries((row.fields['intercept'] ?? {}) as Record<string, unknown>)) {
    ctx = ctx.intercept(service as never, config as never)
  }
  return ctx
}

function realmSymbol(realms: Map<string, symbol>, service: string, label: string): symbol {
  const key = `${service}@${label}`
  const symbol = realms.get(key) ?? Symbol(key)
  realms.set(key, symbol)
  return symbol
}

function isDisabled(row: RowNode, scope: ExpressionScope): boolean {
  const disabled = row.fields['disabled']
  return Boolean(isExpression(disabled) ? evaluate(disabled, scope) : disabled)
}

/** Waits until no fiber of the list is moving. A row whose service never comes does not move. */
export async function settle(rows: readonly MountedRow[]): Promise<void> {
  for (;;) {
    const fibers = [...allMounted(rows)].flatMap((mounted) => mounted.fiber ?? [])
    const moving = fibers.filter((fiber) => fiber.inertia !== undefined)
    if (moving.length === 0) return
    await Promise.allSettled(moving.map((fiber) => fiber.inertia))
  }
}

export function* allMounted(rows: readonly MountedRow[]): Generator<MountedRow> {
  for (const row of rows) {
    yield row
    if (row.children !== undefined) yield* allMounted(row.children)
  }
}

/** Why a mounted row is not running; undefined when it runs or is disabled. */
export function rowFault(
  mounted: MountedRow,
): { reason: string; error?: unknown } | { waiting: readonly string[] } | undefined {
  if (mounted.state === 'disabled') return undefined
  if (mounted.state === 'failed') return { reason: errorText(mounted.error), error: mounted.error }
  const fiber = mounted.fiber as Fiber
  const error = fiberError(fiber)
  if (error !== undefined) return { reason: errorText(error), error }
  if (fiber.state === FiberPhase.active) return undefined
  if (fiber.state === FiberPhase.pending) {
    return { waiting: mounted.inject.filter((name) => fiber.ctx.get(name as never) === undefined) }
  }
  return { reason: `stopped in state ${Object.entries(FiberPhase).find(([, n]) => n === fiber.state)?.[0]}` }
}
