import { Context, getTraceable, symbols } from 'cordis'

/**
 * cordis makes an error, stack and all, on every use of a service or of its own methods through a context, and throws
 * it only when there is no such service. Here what is found is given at once; everything else goes the long way.
 */
interface Node {
  runtime: unknown
  store?: Record<string, { value: unknown } | undefined>
  inject: object
  parent: Record<symbol, Record<string, symbol>> & { fiber: Node }
}
interface Target {
  reflect: { props: Record<string, { type: string; get?: (...args: unknown[]) => unknown } | undefined> }
  events: { _hooks: Record<string, unknown[] | undefined> }
  fiber: Node
  [key: symbol]: any
}
type Get = (target: Target, prop: string | symbol, ctx: Target) => unknown

// The class is not exported; any context leads to it.
const { handler } = (new Context().reflect as unknown as { constructor: { handler: { get: Get } } }).constructor
const slowly = handler.get
const mixed = new Set<string | symbol>([
  ...['get', 'set', 'provide', 'accessor', 'mixin', 'runtime', 'effect', 'inject', 'plugin'],
  ...['on', 'once', 'parallel', 'emit', 'serial', 'bail', 'waterfall'],
])

handler.get = (target, prop, ctx) => {
  if (typeof prop === 'symbol' || Reflect.has(target, prop)) return slowly(target, prop, ctx)
  const def = target.reflect.props[prop]
  if (def?.type === 'accessor' && mixed.has(prop)) return def.get?.call(ctx, ctx[symbols.receiver])
  if (def?.type !== 'service' || target.events._hooks['internal/get']?.length) return slowly(target, prop, ctx)
  const impl = found(prop, target[symbols.isolate][prop], (ctx[symbols.shadow] ?? ctx).fiber)
  return impl === undefined ? slowly(target, prop, ctx) : getTraceable(ctx as never, impl.value)
}

/** The service as this fiber or one above it has it, as long as none of them says that it must come from itself. */
function found(name: string, key: symbol | undefined, from: Node): { value: unknown } | undefined {
  if (!from.runtime) return undefined
  for (let fiber = from; ; fiber = fiber.parent.fiber) {
    const impl = fiber.store?.[name]
    if (impl !== undefined) return impl
    if (!fiber.runtime || name in fiber.inject || fiber.parent[symbols.isolate]?.[name] !== key) return undefined
  }
}
