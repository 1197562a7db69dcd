/** Readers run on the list itself, at full speed; anything that would write meets the traps. */
const readers: ReadonlySet<PropertyKey> = new Set<PropertyKey>([
  Symbol.iterator,
  'at',
  'concat',
  'entries',
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flatMap',
  'forEach',
  'includes',
  'indexOf',
  'keys',
  'lastIndexOf',
  'map',
  'reduce',
  'reduceRight',
  'slice',
  'some',
  'values',
])

/** A live read-only view of a growing list: indexable, iterable, never copied. */
export function readOnlyView<T>(list: readonly T[]): readonly T[] {
  const bound = new Map<PropertyKey, unknown>()
  return new Proxy(list as T[], {
    get(target, key) {
      if (!readers.has(key)) return Reflect.get(target, key) as unknown
      const known = bound.get(key)
      if (known !== undefined) return known
      const reader = (Reflect.get(target, key) as (...args: unknown[]) => unknown).bind(target)
      bound.set(key, reader)
      return reader
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  })
}

function refuse(): never {
  throw new TypeError('the session log is append-only; use session.append')
}
