import { Fiber } from 'cordis'
import { FiberPhase } from './state.ts'

/** cordis asks its root, through two proxies, for each service of the program whenever a fiber starts or stops. */
interface Moving {
  state: number
  readonly ctx: { readonly reflect: Reflector }
  readonly context: { emit(name: string, ...args: unknown[]): void }
  _getState(): number
  _updateState(callback: () => number | undefined): void
}
interface Reflector {
  readonly store: Record<symbol, { readonly name: string; readonly fiber: Moving } | undefined>
  notify(names: readonly string[]): void
}

const fiber = Fiber.prototype as unknown as Moving

fiber._updateState = function (callback) {
  const before = this.state
  this.state = callback() ?? this._getState()
  if (before === this.state) return
  this.context.emit('internal/status', this, before)
  if (before !== FiberPhase.active && this.state !== FiberPhase.active) return
  const { reflect } = this.ctx
  const { store } = reflect
  for (const key of Object.getOwnPropertySymbols(store)) {
    const impl = store[key]
    if (impl?.fiber === this) reflect.notify([impl.name])
  }
}
