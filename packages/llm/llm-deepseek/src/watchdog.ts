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
  const expire = (after: number) => {
    expired = after
    controller.abort()
  }
  const idle = silenceClock(idleMs, expire)
  const stall = silenceClock(stallMs, expire)
  const cancel = () => controller.abort(caller?.reason)
  if (caller?.aborted) cancel()
  caller?.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    pulse: idle.heard,
    progress: stall.heard,
    get expired() {
      return expired
    },
    stop() {
      idle.stop()
      stall.stop()
      caller?.removeEventListener('abort', cancel)
    },
  }
}

/**
 * Calls `silent` after `ms` in which nothing was heard. Timers run before the network is read, so after a time in which
 * this process was busy itself, what has come meanwhile is read before anybody calls it silence.
 */
function silenceClock(ms: number, silent: (ms: number) => void) {
  let check: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    check = setImmediate(silent, ms)
  }, ms)
  return {
    heard: () => {
      clearImmediate(check)
      timer.refresh()
    },
    stop: () => {
      clearImmediate(check)
      clearTimeout(timer)
    },
  }
}
