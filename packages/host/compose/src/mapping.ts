import { isExpression } from './expression.ts'

export type Mapping = Readonly<Record<string, unknown>>

/** A YAML mapping: not a list, not an expression. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExpression(value)
}

/** How a message names a value of the wrong kind. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (isExpression(value)) return `an expression (${value.tag})`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return JSON.stringify(value)
}
