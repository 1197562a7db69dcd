import type { AbortCause } from '@dsh/session'
import type { LoopHost } from './host.ts'
import { LimitStop } from './limit-stop.ts'
import { type LimitHit, limitReached, waitingMs, wallTimeHit } from './limits.ts'
import type { StepOutcome } from './step.ts'

export interface TurnUse {
  /** Throws when no further request is allowed. */
  check(): void
  record(outcome: StepOutcome): void
  /** The limit that cancelled the turn from outside. */
  readonly hit: LimitHit | undefined
  stop(): void
}

/** Counts what the turn uses up; the clock cancels it in the middle of whatever runs. */
export function countUse({ limits, spentUsd }: LoopHost, controller: AbortController): TurnUse {
  const startedAt = Date.now()
  const { maxWallMs } = limits
  let requests = 0
  let fingerprint: string | undefined
  let identicalSteps = 0
  let hit: LimitHit | undefined
  const elapsedMs = () => Date.now() - startedAt
  const timer =
    maxWallMs === undefined
      ? undefined
      : setTimeout(() => {
          if (controller.signal.aborted) return
          hit = wallTimeHit(maxWallMs, elapsedMs())
          controller.abort({ kind: 'hook', reason: hit.reason } satisfies AbortCause)
        }, maxWallMs)
  timer?.unref()
  return {
    check() {
      const reached = limitReached(limits, { requests, elapsedMs: elapsedMs(), spentUsd: spentUsd(), identicalSteps })
      if (reached !== undefined) throw new LimitStop(reached)
    },
    record({ batch }) {
      requests++
      const repeated = batch !== undefined && batch.fingerprint === fingerprint && batch.durationMs < waitingMs
      identicalSteps = repeated ? identicalSteps + 1 : 1
      fingerprint = batch?.fingerprint
    },
    get hit() {
      return hit
    },
    stop: () => clearTimeout(timer),
  }
}
