import type { Fiber } from 'cordis'

/** cordis' `FiberState` is an ambient const enum, which erasable sources cannot import. */
export const FiberPhase = { pending: 0, loading: 1, active: 2, failed: 3, disposed: 4, unloading: 5 } as const

/** The error a fiber keeps to itself: a bad config leaves the state at pending, with only this to tell. */
export function fiberError(fiber: Fiber): unknown {
  return (fiber as unknown as { _error?: unknown })._error
}
