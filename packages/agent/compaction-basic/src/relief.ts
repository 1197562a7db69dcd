import type { PreStep, RequestError } from '@dsh/agent'
import type { ToolResultPruner } from '@dsh/compaction-tool-result-pruner'
import { errorText } from '@dsh/core'
import type { Session } from '@dsh/session'
import type { TokenMeter } from '@dsh/token-meter'
import { type Compact, groupsOf } from './compactor.ts'
import { compactable } from './groups.ts'
import { pressureOf, triesInStep } from './pressure.ts'

export interface ReliefParts {
  readonly compact: Compact
  readonly meter: TokenMeter
  /** Asked for at use: the row may be absent. */
  readonly pruner: () => ToolResultPruner | undefined
  readonly warn: (text: string) => void
  readonly thresholdRatio: number
  readonly retainTokens: (window: number) => number
  readonly maxOverflowRetries: number
}

/** After a failure, how much history has to grow before it is tried again. */
const GROWTH_BEFORE_RETRY = 1.05

/** What makes room without being asked to. Neither of the two fails a turn: the request then goes as it is. */
export function createRelief(parts: ReliefParts) {
  const { compact, meter } = parts
  const failedAt = new WeakMap<Session, number>()

  /** Cuts the long results outside the tail, where that frees at least `needed` tokens. */
  const pruneOld = (session: Session, retainTokens: number, needed: number): boolean => {
    const pruner = parts.pruner()
    if (pruner === undefined) return false
    const seqs = compactable(groupsOf(session, meter), retainTokens).flatMap((group) => group.seqs)
    return pruner.wouldFree(session, seqs) >= needed && pruner.prune(session, seqs) > 0
  }

  return {
    /** Before a step. */
    async underPressure(input: PreStep): Promise<void> {
      const pressure = pressureOf(input, meter)
      if (pressure === undefined) return
      const { turn, signal } = input
      const { session } = input.agent
      const { tokens, window } = pressure
      const threshold = window * parts.thresholdRatio
      if (tokens <= threshold || tokens <= (failedAt.get(session) ?? 0) * GROWTH_BEFORE_RETRY) return
      const retain = parts.retainTokens(window)
      // Down to the middle between tail and threshold, or the next step would be here again.
      if (pruneOld(session, retain, tokens - (threshold + retain) / 2)) return
      try {
        const compacted = await compact({ session, turn, retainTokens: retain, signal })
        if (compacted === undefined) failedAt.set(session, tokens)
        else failedAt.delete(session)
      } catch (error) {
        signal.throwIfAborted()
        failedAt.set(session, tokens)
        parts.warn(errorText(error))
        pruneOld(session, retain, 1)
      }
    },

    /** After the provider refused the request as too long. True when there is less of it now. */
    async afterOverflow({ agent, turn, signal }: RequestError): Promise<boolean> {
      const { session } = agent
      if (triesInStep(session) < parts.maxOverflowRetries) {
        try {
          if ((await compact({ session, turn, retainTokens: 0, signal })) !== undefined) return true
        } catch (error) {
          signal.throwIfAborted()
          parts.warn(errorText(error))
        }
      }
      // Long results are left to cut: the old ones, and the newest only when nothing else helps.
      return pruneOld(session, 0, 1) || (parts.pruner()?.prune(session, [...session.surface]) ?? 0) > 0
    },
  }
}
