import { Context, Fiber, symbols } from 'cordis'
import { FiberPhase } from './state.ts'

/**
 * cordis asks its root, through two proxies, for each service of the program whenever a fiber starts or stops, and
 * makes an iterator for each fiber of the program to find those that a service concerns. The same questions here, put once.
 */
interface Moving {
  state: number
  readonly inject: object
  readonly store: Record<string, Provided> | undefined
  readonly ctx: Root
  readonly context: Root
  _checkImpl(name: string): void
  _getState(): number
  _refresh(): void
  _updateState(callback: () => number | undefined): void
}
interface Root {
  readonly reflect: Reflector
  readonly registry: {
    forEach(each: (runtime: { readonly fibers: { readonly map: Map<number, Moving> } }) => void): void
  }
  readonly [symbols.isolate]: Record<string, symbol>
  emit(...args: unknown[]): void
}
interface Provided {
  readonly name: string
  readonly value: unknown
  readonly fiber: Moving
}
interface Reflector {
  readonly ctx: Root
  readonly store: Record<symbol, Provided | undefined>
  notify(names: readonly string[], concerns?: (ctx: Root, name: string) => boolean): Moving[]
  _getImpl(name: string, strict: boolean): Provided | undefined
}

const fiber = Fiber.prototype as unknown as Moving
const reflector = Object.getPrototypeOf(new Context().reflect) as Reflector

fiber._updateState = function (callback) {
  const before = this.state
  this.state = callback() ?? this._getState()
  if (before === this.state) return
  this.context.emit('internal/status', this, before)
  if (before !== FiberPhase.active && this.state !== FiberPhase.active) return
  if (!provides(this)) return
  const { reflect } = this.ctx
  const { store } = reflect
  for (const key of Object.getOwnPropertySymbols(store)) {
    const impl = store[key]
    if (impl?.fiber === this) reflect.notify([impl.name])
  }
}

function provides(fiber: Moving): boolean {
  for (const name in fiber.store) if (fiber.store[name]?.fiber === fiber) return true
  return false
}

// Ten thousand times at every start: nothing is made here for a fiber that has no part in it.
reflector.notify = function (names, concerns) {
  const { ctx } = this
  const isolate = ctx[symbols.isolate]
  concerns ??= (other, name) => other[symbols.isolate][name] === isolate[name]
  const moved: Moving[] = []
  const move = (fiber: Moving) => {
    let concerned = false
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string
      if (!(name in fiber.inject) || !concerns(fiber.ctx, name)) continue
      concerned = true
      fiber._checkImpl(name)
    }
    if (!concerned) return
    fiber._refresh()
    moved.push(fiber)
  }
  ctx.registry.forEach(({ fibers }) => {
    fibers.map.forEach(move)
  })
  for (const name of names) {
    const self = Object.create(ctx, { [symbols.filter]: { value: (target: Root) => concerns(target, name) } })
    ctx.emit(self, 'internal/service', name, this._getImpl(name, false)?.value)
  }
  return moved
}
