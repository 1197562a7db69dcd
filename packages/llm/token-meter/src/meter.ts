import { messageOf, type Session } from '@dsh/session'
import { estimateHeader, estimateMessage } from './estimate.ts'
import { priceOf } from './price.ts'
import type { ModelPrice, TokenMeter } from './types.ts'
import { usageFold } from './usage-fold.ts'

export function createMeter(prices: readonly ModelPrice[]): TokenMeter {
  const fold = usageFold(prices)
  return {
    totals: (session) => session.fold(fold).totals,
    lastCall: (session) => session.fold(fold).calls.at(-1),
    step: (session, turn, step) => session.fold(fold).calls.filter((call) => call.turn === turn && call.step === step),
    spentUsd: (session) => {
      const { costUsd, costKnown } = session.fold(fold).totals
      return costKnown ? costUsd : undefined
    },
    price: (provider, model) => priceOf(prices, provider, model),
    contextTokens: (session) => {
      const { anchor } = session.fold(fold)
      const all = estimateHeader(session.requestHeader ?? {}) + historyTokens(session, 0)
      return anchor === undefined ? all : Math.max(all, anchor.tokens + historyTokens(session, anchor.seq + 1))
    },
    estimateMessage,
    estimateHeader,
  }
}

function historyTokens(session: Session, fromSeq: number): number {
  const { surface, events } = session
  let tokens = 0
  for (let i = surface.length - 1; i >= 0; i--) {
    const seq = surface[i] as number
    if (seq < fromSeq) break
    const event = events[seq]
    const message = event === undefined ? undefined : messageOf(event)
    if (message !== undefined) tokens += estimateMessage(message)
  }
  return tokens
}
