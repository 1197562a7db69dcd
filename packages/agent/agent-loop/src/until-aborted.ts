/** When a signal was first seen aborted: the grace runs once per turn, not once per wait. */
const abortedAt = new WeakMap<AbortSignal, number>()

/** How long anything that ignores the signal may hold up a cancelled turn. */
export const abortGraceMs = 2000

/**
 * Waits for `work`, but not for ever: once `signal` is aborted it has `graceMs` left, then `giveUp` speaks for it.
 * The work itself cannot be killed; what it still does or throws is nobody's business any more.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  giveUp: () => T,
  graceMs: number = abortGraceMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let start: () => void = () => {}
  const abandoned = new Promise<undefined>((resolve) => {
    start = () => {
      const since = abortedAt.get(signal) ?? performance.now()
      abortedAt.set(signal, since)
      timer = setTimeout(() => resolve(undefined), Math.max(0, graceMs - (performance.now() - since)))
    }
    if (signal.aborted) start()
    else signal.addEventListener('abort', start, { once: true })
  })
  try {
    const settled = work.then((value) => ({ value }))
    settled.catch(() => {})
    const outcome = await Promise.race([settled, abandoned])
    return outcome === undefined ? giveUp() : outcome.value
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', start)
  }
}

/** As `for await`, but an abort ends the loop even when the source does not listen. */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal, graceMs = 50): AsyncIterable<T> {
  const iterator = source[Symbol.asyncIterator]()
  let done = false
  try {
    while (true) {
      const next = await untilAborted<IteratorResult<T>>(iterator.next(), signal, () => giveUp(signal), graceMs)
      if (next.done === true) {
        done = true
        return
      }
      yield next.value
    }
  } finally {
    if (!done) iterator.return?.(undefined).then(undefined, () => {})
  }
}

/** For work that has nothing to say for itself: the wait ends with the cause of the abort. */
export function giveUp(signal: AbortSignal): never {
  signal.throwIfAborted()
  throw new Error('aborted')
}
