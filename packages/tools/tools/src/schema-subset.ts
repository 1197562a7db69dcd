import { toolError, toolErrors } from './errors.ts'
import type { JsonSchema } from './types.ts'

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const keywords = new Set([
  'type',
  'oneOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'description',
  'title',
  'default',
  'examples',
])

/** Refuses a schema that says anything the validator would not enforce. */
export function assertSupportedSchema(schema: unknown, root: string): void {
  const violations: string[] = []
  inspect(schema, root, violations)
  if (violations.length > 0)
    throw toolError(toolErrors.unsupportedSchema, `unsupported JSON schema: ${violations.join('; ')}`)
}

function inspect(schema: unknown, path: string, out: string[]): void {
  if (!isRecord(schema)) {
    out.push(`${path} must be a schema object`)
    return
  }
  for (const key of Object.keys(schema)) if (!keywords.has(key)) out.push(`${path} uses unsupported keyword "${key}"`)
  const { type, oneOf, properties, required, additionalProperties, items } = schema as Record<keyof JsonSchema, unknown>
  if (type !== undefined && !types.includes(type as string)) out.push(`${path}.type must be one of ${types.join(', ')}`)
  if (oneOf !== undefined) inspectBranches(oneOf, `${path}.oneOf`, out)
  if (properties !== undefined) inspectProperties(properties, `${path}.properties`, out)
  if (required !== undefined && !isStringList(required)) out.push(`${path}.required must be a list of names`)
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean')
    out.push(`${path}.additionalProperties must be a boolean`)
  if (items !== undefined) inspect(items, `${path}.items`, out)
  if (schema['enum'] !== undefined && !(Array.isArray(schema['enum']) && schema['enum'].every(isScalar)))
    out.push(`${path}.enum must be a list of scalars`)
  if (schema['const'] !== undefined && !isScalar(schema['const'])) out.push(`${path}.const must be a scalar`)
}

function inspectBranches(branches: unknown, path: string, out: string[]): void {
  if (!Array.isArray(branches) || branches.length < 2) {
    out.push(`${path} must list at least two branches`)
    return
  }
  branches.forEach((branch, i) => {
    inspect(branch, `${path}[${i}]`, out)
  })
}

function inspectProperties(properties: unknown, path: string, out: string[]): void {
  if (!isRecord(properties)) {
    out.push(`${path} must be an object`)
    return
  }
  for (const [name, property] of Object.entries(properties)) inspect(property, `${path}.${name}`, out)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
