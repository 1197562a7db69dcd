import { Context, isObject, symbols } from 'cordis'
import { entry, traced } from './traced.ts'

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
  registry: object
  reflect: { props: Record<string, { type: string; get?: (...args: unknown[]) => unknown } | undefined> }
  events: { _hooks: Record<string, unknown[] | undefined> }
  fiber: Node
  [key: symbol]: any
}
interface Reflector {
  handler: { get: Get }
  prototype: {
    ctx: Context
    bind<F extends Method>(callback: F): F
    get(name: string, strict?: boolean): unknown
    _getImpl(name: string, strict: boolean): { value: unknown } | undefined
  }
}
type Method = (...args: unknown[]) => unknown
type Get = (target: Target, prop: string | symbol, ctx: Target) => unknown

// The class is not exported; any context leads to it.
const { handler, prototype: reflector } = (new Context().reflect as unknown as { constructor: Reflector }).constructor
const slowly = handler.get
const mixed = new Map<string | symbol, 'fiber' | 'reflect' | 'registry' | 'events'>([
  ...['runtime', 'effect'].map((name) => [name, 'fiber'] as const),
  ...['get', 'set', 'provide', 'accessor', 'mixin'].map((name) => [name, 'reflect'] as const),
  ...['inject', 'plugin'].map((name) => [name, 'registry'] as const),
  ...['on', 'once', 'parallel', 'emit', 'serial', 'bail', 'waterfall'].map((name) => [name, 'events'] as const),
])
const usable = new WeakMap<object, new (ctx: Target) => Record<string | symbol, Method>>()
const methods = new WeakMap<object, Map<string, Method>>()

handler.get = (target, prop, ctx) => {
  if (typeof prop === 'symbol') return Reflect.get(target, prop, ctx)
  if (Reflect.has(target, prop)) {
    const value = Reflect.get(target, prop, ctx)
    return isObject(value) && (value as Target)[symbols.tracker] !== undefined ? slowly(target, prop, ctx) : value
  }
  const def = target.reflect.props[prop]
  if (def?.type === 'accessor') {
    const source = mixed.get(prop)
    if (source === undefined || ctx[symbols.receiver] !== undefined) return slowly(target, prop, ctx)
    if (source === 'fiber') return def.get?.call(ctx)
    return methods.get(ctx)?.get(prop) ?? bindMethod(target[source], prop, ctx)
  }
  if (def?.type !== 'service' || target.events._hooks['internal/get']?.length) return slowly(target, prop, ctx)
  const impl = found(prop, target[symbols.isolate][prop], (ctx[symbols.shadow] ?? ctx).fiber)
  return impl === undefined ? slowly(target, prop, ctx) : traced(ctx as never, impl.value)
}

reflector.get = function (name, strict = true) {
  return traced(this.ctx, this._getImpl(name, strict)?.value)
}

/** Listeners get services as their own context uses them; cordis asks itself how, by proxy, for every argument. */
reflector.bind = function (callback) {
  const { ctx } = this
  const own = (values: unknown[]) => values.map((value) => traced(ctx, value))
  return new Proxy(callback, {
    apply: (target, self, args) => Reflect.apply(target, traced(ctx, self), own(args)),
    construct: (target, args, newTarget) => Reflect.construct(target, own(args), newTarget),
  })
}

function bindMethod(of: object, name: string, ctx: Target): Method {
  const service = new (useOf(of))(ctx[symbols.shadow] ? Object.getPrototypeOf(ctx) : ctx)
  const method = (service[name] as Method).bind(service)
  entry(methods, ctx, () => new Map<string, Method>()).set(name, method)
  return method
}

/** Makes objects that are one of cordis' own services as a context uses it; cordis makes a proxy of each. */
function useOf(service: object): new (ctx: Target) => Record<string | symbol, Method> {
  return entry(usable, service, () => {
    const Use = class {
      readonly ctx: Target
      constructor(ctx: Target) {
        this.ctx = ctx
      }
    }
    Object.setPrototypeOf(Use.prototype, service)
    return Use as never
  })
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
