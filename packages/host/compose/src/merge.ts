import { isMapping, type Mapping } from './mapping.ts'

/** Deep merge of mappings; lists and scalars are replaced; `null` deletes the key. */
export function merge(base: Mapping, patch: Mapping): Mapping {
  const result = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(patch)) {
    const old = result.get(key)
    if (value === null) result.delete(key)
    else result.set(key, isMapping(value) ? merge(isMapping(old) ? old : {}, value) : value)
  }
  return Object.fromEntries(result)
}
