import { type Context, getTraceable, isObject, symbols } from 'cordis'

/**
 * What `ctx.name` gives is a service as that context uses it. cordis makes it anew for every use, and for every use of
 * a method of it two proxies more; here each is made once for its context and kept as long as that is.
 */
const kept = new WeakMap<object, WeakMap<object, object>>()

type Service = Record<string | symbol, unknown>

/** The value as `ctx` uses it; anything but a service is given as it is. */
export function traced(ctx: Context, value: unknown): unknown {
  if (!isObject(value) || (value as Service)[symbols.tracker] === undefined) return value
  if (Object.hasOwn(value, symbols.shadow)) return getTraceable(ctx, value)
  const service = original(value as Service)
  const known = kept.get(ctx)?.get(service)
  if (known !== undefined) return known
  const ofContext = entry(kept, ctx, () => new WeakMap<object, object>())
  return entry(ofContext, service, () => withKeptMethods(service, getTraceable(ctx, service)))
}

/** The service itself, of one that some context uses. */
function original(service: Service): Service {
  const inner = service[symbols.original] as Service | undefined
  return inner === undefined ? service : original(inner)
}

/** Methods by the `this` that they are asked of: the service itself, or one that cordis gave to another of its methods. */
function withKeptMethods(service: Service, traceable: Service): object {
  const methods = new WeakMap<object, Map<string, { readonly made: unknown; readonly from: unknown }>>()
  return new Proxy(traceable, {
    get(_, prop, receiver: object) {
      if (typeof prop === 'symbol') return Reflect.get(traceable, prop, receiver)
      const known = methods.get(receiver)?.get(prop)
      if (known !== undefined && service[prop] === known.from) return known.made
      const made: unknown = Reflect.get(traceable, prop, receiver)
      if (typeof made === 'function' && isOwnMethod(service, prop)) {
        entry(methods, receiver, () => new Map()).set(prop, { made, from: service[prop] })
      }
      return made
    },
  })
}

/** A method that is neither computed nor a service of its own. */
function isOwnMethod(service: Service, prop: string): boolean {
  for (let holder: object | null = service; holder !== null; holder = Object.getPrototypeOf(holder)) {
    const found = Object.getOwnPropertyDescriptor(holder, prop)
    if (found !== undefined) return typeof found.value === 'function' && found.value[symbols.tracker] === undefined
  }
  return false
}

/** What the map has under a key, made on first use. */
export function entry<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
