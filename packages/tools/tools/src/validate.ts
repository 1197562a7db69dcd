import { assertNever } from '@dsh/core'
import type { JsonSchema } from './types.ts'

type Scalar = string | number | boolean | null

/**
 * Every way in which `value` is not what `schema` says, as texts for the model. No defaults, no coercion. Per object:
 * missing names in `required` order, then the children in the schema's order, then undeclared keys.
 */
export function violations(schema: JsonSchema, value: unknown, root: string): string[] {
  const out: string[] = []
  check(schema, value, { shown: root, prefix: '' }, out)
  return out
}

interface Path {
  /** How the model reads it: `todos[0].status`; the root has a name of its own. */
  readonly shown: string
  /** What children put before their own name. */
  readonly prefix: string
}

function check(schema: JsonSchema, value: unknown, path: Path, out: string[]): void {
  const before = out.length
  if (schema.oneOf !== undefined) checkBranches(schema.oneOf, value, path, out)
  if (schema.type !== undefined) checkType(schema.type, value, path, out)
  if (out.length > before) return
  if (schema.enum !== undefined && !schema.enum.includes(value as Scalar))
    out.push(`"${path.shown}" must be one of ${JSON.stringify(schema.enum)}`)
  if (schema.const !== undefined && value !== schema.const)
    out.push(`"${path.shown}" must be ${JSON.stringify(schema.const)}`)
  if (Array.isArray(value)) checkItems(schema, value, path, out)
  else if (isRecord(value)) checkProperties(schema, value, path, out)
}

function checkBranches(branches: readonly JsonSchema[], value: unknown, path: Path, out: string[]): void {
  const matched = branches.filter((branch) => {
    const problems: string[] = []
    check(branch, value, path, problems)
    return problems.length === 0
  }).length
  if (matched !== 1) out.push(`"${path.shown}" must match exactly one oneOf branch (matched ${matched})`)
}

function checkType(type: NonNullable<JsonSchema['type']>, value: unknown, path: Path, out: string[]): void {
  const wrong = typeProblem(type, value)
  if (wrong !== undefined) out.push(`"${path.shown}" must be ${wrong}`)
}

function typeProblem(type: NonNullable<JsonSchema['type']>, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? undefined : 'a string'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'a boolean'
    case 'null':
      return value === null ? undefined : 'null'
    case 'number':
      return typeof value !== 'number' ? 'a number' : isJsonNumber(value) ? undefined : 'a finite JSON number'
    case 'integer':
      if (typeof value === 'number' && !isJsonNumber(value)) return 'a finite JSON number'
      return Number.isInteger(value) ? undefined : 'an integer'
    case 'object':
      return isRecord(value) ? undefined : 'an object'
    case 'array':
      return Array.isArray(value) ? undefined : 'an array'
    default:
      return assertNever(type)
  }
}

function checkItems(schema: JsonSchema, value: readonly unknown[], path: Path, out: string[]): void {
  const { items } = schema
  if (items === undefined) return
  value.forEach((item, i) => {
    const at = `${path.shown}[${i}]`
    check(items, item, { shown: at, prefix: `${at}.` }, out)
  })
}

function checkProperties(schema: JsonSchema, value: Record<string, unknown>, path: Path, out: string[]): void {
  const properties = schema.properties ?? {}
  for (const name of schema.required ?? [])
    if (value[name] === undefined) out.push(`missing required property "${path.prefix}${name}"`)
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) continue
    const at = `${path.prefix}${name}`
    check(property, value[name], { shown: at, prefix: `${at}.` }, out)
  }
  if (schema.additionalProperties !== false) return
  for (const name of Object.keys(value))
    if (!Object.hasOwn(properties, name))
      out.push(`"${path.prefix}${name}" is not a declared property (additionalProperties: false)`)
}

function isJsonNumber(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
