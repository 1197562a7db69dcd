import { CordisError, EventsService, Fiber, isObject } from 'cordis'
import { FiberPhase } from './state.ts'

/**
 * Edges of cordis 4.0.0-rc.10 that are absorbed here, once for every row; `vendor/README.md` lists them.
 * Each part keeps what cordis does and adds what is missing.
 */
interface Internals {
  state: number
  uid: number | null
  inertia: Promise<void> | undefined
  inject: Record<string, unknown>
  ctx: Fiber['ctx']
  _error: unknown
  _store: Record<string, { fiber: Internals }>
  _disposables: Fiber['_disposables']
  assertActive(): void
  effect(execute: () => unknown, label?: string): Disposer
  _setEpoch(epoch: string): void
  _unload(): Promise<void>
}
type Disposer = (() => unknown) & {
  then: (ok: (value: unknown) => unknown, no?: (error: unknown) => unknown) => unknown
}

const fiber = Fiber.prototype as unknown as Internals

refuseEffectsWhileUnloading()
joinDisposers()
retryFailedOnNewProvider()
unloadConsumersFirst()
containInternalObservers()

/** cordis accepts an effect from a disposer of an unloading fiber, and then never disposes it. */
function refuseEffectsWhileUnloading(): void {
  const assertActive = fiber.assertActive
  fiber.assertActive = function () {
    assertActive.call(this)
    if (this.state === FiberPhase.unloading) throw new CordisError('INACTIVE_EFFECT')
  }
}

/**
 * A disposer that somebody called early is waited for when its fiber ends, and whoever calls it again joins the first
 * call. An effect whose own setup ended its fiber is cleaned up at once.
 */
function joinDisposers(): void {
  const effect = fiber.effect
  const metaKey = Symbol.for('cordis.effect')
  fiber.effect = function (execute, label) {
    const inner = effect.call(this, execute, label)
    let running: { task: unknown } | undefined
    const outer = (() => {
      if (running === undefined) {
        running = { task: undefined }
        forget()
        running.task = inner()
        if (isPromise(running.task)) {
          const waiting = this._disposables.push(() => running?.task)
          running.task.then(waiting, waiting)
        }
      }
      return running.task
    }) as Disposer
    Object.defineProperty(outer, metaKey, { value: (inner as unknown as Record<symbol, unknown>)[metaKey] })
    // biome-ignore lint/suspicious/noThenProperty: cordis' own disposers are thenable
    outer.then = (ok, no) => inner.then(() => ok(() => outer()), no)
    this._disposables.delete(inner)
    const forget = this._disposables.push(outer)
    if (this.uid === null || this.state === FiberPhase.unloading) outer()
    return outer
  }
}

/** A fiber that failed with one provider of a service is tried again when another one takes its place. */
function retryFailedOnNewProvider(): void {
  const setEpoch = fiber._setEpoch
  const wanted = new WeakMap<Internals, string>()
  fiber._setEpoch = function (epoch) {
    const inactive = epoch === '__INACTIVE__'
    const last = wanted.get(this)
    if (this._error !== undefined && !inactive && last !== undefined && last !== epoch) this._error = undefined
    if (!inactive) wanted.set(this, epoch)
    setEpoch.call(this, epoch)
  }
}

/** A provider's cleanup starts when everything that uses its services has been cleaned up. */
function unloadConsumersFirst(): void {
  const consumers = new WeakMap<Internals, Set<Internals>>()
  const { _setEpoch: setEpoch, _unload: unload } = fiber
  fiber._setEpoch = function (epoch) {
    for (const name of epoch === '__INACTIVE__' ? [] : Object.keys(this.inject)) {
      const provider = this._store[name]?.fiber
      if (provider === undefined) continue
      const users = consumers.get(provider) ?? new Set()
      consumers.set(provider, users.add(this))
    }
    setEpoch.call(this, epoch)
  }
  fiber._unload = async function () {
    await Promise.resolve()
    for (const consumer of consumers.get(this) ?? []) {
      while (consumer.inertia !== undefined && consumer.state === FiberPhase.unloading) await consumer.inertia
    }
    consumers.delete(this)
    const providers = Object.values(this._store).map((impl) => impl.fiber)
    await unload.call(this)
    for (const provider of providers) consumers.get(provider)?.delete(this)
  }
}

/** A throwing observer of cordis' own events would leave a fiber half disposed. */
function containInternalObservers(): void {
  const events = EventsService.prototype as unknown as {
    ctx: Fiber['ctx']
    _hooks: Record<string, unknown[] | undefined>
    emit(...args: unknown[]): void
    dispatch(type: string, args: unknown[]): ((...args: unknown[]) => unknown)[]
  }
  const emit = events.emit
  events.emit = function (...args) {
    const name = typeof args[0] === 'string' ? args[0] : args[1]
    if (typeof name !== 'string' || !name.startsWith('internal/')) return emit.apply(this, args)
    if (this._hooks[name] === undefined) return
    for (const observer of this.dispatch('emit', args)) {
      try {
        observer(...args)
      } catch (error) {
        this.ctx.logger.warn(error)
      }
    }
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === 'function'
}
