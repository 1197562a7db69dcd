/**
 * A schema that is made when it is first asked for something. Most rows run with what their bundle says, which was
 * checked when the program was built. That it is a schema can be seen without making it.
 */
export function lazySchema<T extends object>(make: () => T): T {
  let made: T | undefined
  const real = (): T => {
    made ??= make()
    return made
  }
  return new Proxy({} as T, {
    get: (_, key) => Reflect.get(real(), key),
    has: (_, key) => key === '~standard' || Reflect.has(real(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(real()),
  })
}
