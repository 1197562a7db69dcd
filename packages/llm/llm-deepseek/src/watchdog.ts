export interface Watchdog {
  /** Aborts with the caller, or when the stream went silent. */
  readonly signal: AbortSignal
  /** Bytes arrived. */
  pulse(): void
  /** Data arrived, not only keep-alive comments. */
  progress(): void
  /** Set once the silence was too long: the milliseconds waited. */
  readonly expired: number | undefined
  stop(): void
}

/** Two clocks over one stream: no byte for `idleMs`, or no data for `stallMs`. */
export function watch(caller: AbortSignal | undefined, idleMs: number, stallMs: number): Watchdog {
  const controller = new AbortController()
  let expired: number | undefined
  const expire = (after: number) => () => {
    expired = after
    controller.abort()
  }
  const idle = setTimeout(expire(idleMs), idleMs)
  const stall = setTimeout(expire(stallMs), stallMs)
  const cancel = () => controller.abort(caller?.reason)
  if (caller?.aborted) cancel()
  caller?.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    pulse: () => void idle.refresh(),
    progress: () => void stall.refresh(),
    get expired() {
      return expired
    },
    stop() {
      clearTimeout(idle)
      clearTimeout(stall)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
