import { isMapping } from './layer.ts'

/** Deep merge of mappings; lists and scalars are replaced; `null` deletes the key. */
export function merge(base: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const result = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      result.delete(key)
      continue
    }
    const old = result.get(key)
    result.set(key, isMapping(value) ? merge(isMapping(old) ? old : {}, value) : value)
  }
  return Object.fromEntries(result)
}
