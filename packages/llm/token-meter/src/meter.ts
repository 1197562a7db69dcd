import type { Session } from '@dsh/session'
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
      const state = session.fold(fold)
      state.history ??= countHistory(session)
      const all = estimateHeader(session.requestHeader ?? {}) + state.history
      return state.anchor === undefined ? all : Math.max(all, state.anchor.tokens + state.anchor.since)
    },
    estimateMessage,
    estimateHeader,
  }
}

function countHistory(session: Session): number {
  let tokens = 0
  for (const message of session.deriveMessages()) tokens += estimateMessage(message)
  return tokens
}
