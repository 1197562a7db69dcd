import { snapshotJson } from '@dsh/core'
import type { JsonSchema, ToolDefinition } from './types.ts'

export type ParsedArguments =
  | { readonly kind: 'parsed'; readonly value: unknown }
  /** JSON that a round trip would not give back (`-0`); no policy stage sees such a call. */
  | { readonly kind: 'lossy' }

/** The raw string as the model streamed it: nothing is `{}`, and what is no JSON stays the string it is. */
export function parseArguments(raw: string): ParsedArguments {
  try {
    return { kind: 'parsed', value: snapshotJson(decode(raw)) }
  } catch {
    return { kind: 'lossy' }
  }
}

function decode(raw: string): unknown {
  if (raw.trim() === '') return {}
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/** Leaves out optional scalars and lists given as `null`: models send both spellings of "nothing". */
export function dropNulls(definition: Pick<ToolDefinition, 'parameters' | 'nullIsAbsent'>, args: unknown): unknown {
  return definition.nullIsAbsent === false ? args : without(definition.parameters, args)
}

function without(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : mapIfChanged(value, (item) => without(items, item))
  }
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value
  let changed = false
  const kept: [string, unknown][] = []
  for (const [name, given] of Object.entries(value)) {
    const property = schema.properties[name]
    if (given === null && property !== undefined && !schema.required?.includes(name) && isDroppable(property)) {
      changed = true
      continue
    }
    const inner = property === undefined ? given : without(property, given)
    if (inner !== given) changed = true
    kept.push([name, inner])
  }
  return changed ? Object.freeze(Object.fromEntries(kept)) : value
}

function isDroppable({ type, enum: values }: JsonSchema): boolean {
  if (values?.includes(null) === true) return false
  return type !== undefined && type !== 'object' && type !== 'null'
}

function mapIfChanged(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const mapped = list.map(change)
  return mapped.every((item, i) => item === list[i]) ? list : Object.freeze(mapped)
}
