import type { TokenUsage } from '@dsh/llm'
import { type Fold, messageOf, type SessionEvent } from '@dsh/session'
import { estimateMessage } from './estimate.ts'
import { costOf, priceOf } from './price.ts'
import type { CallUsage, ModelPrice, SessionUsage } from './types.ts'

/** The real count that later estimates start from. */
export interface Anchor {
  /** Tokens of the request and its answer. */
  readonly tokens: number
  /** Estimate of what came since. */
  since: number
}

export interface UsageState {
  readonly inherited: number
  route: { provider: string; model: string } | undefined
  totals: SessionUsage
  readonly calls: CallUsage[]
  anchor: Anchor | undefined
  /** Estimate of all that the model sees; undefined after a replacement, until it is counted again. */
  history: number | undefined
}

const nothing: SessionUsage = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
  costKnown: true,
}

/** Counts from the log alone, so that a resumed session goes on where it was. Its state is updated in place. */
export function usageFold(prices: readonly ModelPrice[]): Fold<UsageState> {
  return {
    initial: (header) => ({
      inherited: header.parentSession === undefined ? 0 : (header.seedLength ?? 0),
      route: undefined,
      totals: nothing,
      calls: [],
      anchor: undefined,
      history: 0,
    }),
    apply: (state, event) => {
      followHistory(state, event)
      const call = callIn(state, event)
      if (call === undefined || event.seq < state.inherited) return state
      const price = priceOf(prices, call.provider, call.model)
      const costUsd = price === undefined ? undefined : costOf(price, call.usage, event.time)
      state.calls.push(costUsd === undefined ? call : { ...call, costUsd })
      state.totals = add(state.totals, call.usage, costUsd)
      return state
    },
  }
}

/** An answer under the present header is the anchor until history or header change behind its back. */
function followHistory(state: UsageState, event: SessionEvent): void {
  if (event.type === 'request/header') {
    state.route = event.data.header.config
    state.anchor = undefined
  } else if (event.surfaceOp === 'append') {
    const message = messageOf(event)
    const tokens = message === undefined ? 0 : estimateMessage(message)
    if (state.history !== undefined) state.history += tokens
    if (state.anchor !== undefined) state.anchor.since += tokens
    if (event.type === 'assistant/message' && event.data.usage !== undefined)
      state.anchor = { tokens: allTokens(event.data.usage), since: 0 }
  } else if (event.surfaceOp !== undefined) {
    state.history = undefined
    state.anchor = undefined
  }
}

function callIn(state: UsageState, event: SessionEvent): CallUsage | undefined {
  if (event.type === 'compaction/summary' && event.data.usage !== undefined)
    return { kind: 'compaction', provider: event.data.provider, model: event.data.model, usage: event.data.usage }
  if (event.type !== 'assistant/chunk' || event.data.chunk.type !== 'usage') return undefined
  const { turn, step, chunk } = event.data
  const route = state.route ?? { provider: '', model: '' }
  return { kind: 'answer', turn, step, provider: route.provider, model: route.model, usage: chunk.usage }
}

function add(totals: SessionUsage, usage: TokenUsage, costUsd: number | undefined): SessionUsage {
  const inputTokens = totals.inputTokens + usage.inputTokens
  const cacheReadTokens = totals.cacheReadTokens + (usage.cacheReadTokens ?? 0)
  const cacheWriteTokens = totals.cacheWriteTokens + (usage.cacheWriteTokens ?? 0)
  const input = inputTokens + cacheReadTokens + cacheWriteTokens
  return {
    calls: totals.calls + 1,
    inputTokens,
    outputTokens: totals.outputTokens + usage.outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: totals.reasoningTokens + (usage.reasoningTokens ?? 0),
    ...(input === 0 ? {} : { cacheHitRatio: cacheReadTokens / input }),
    costUsd: totals.costUsd + (costUsd ?? 0),
    costKnown: totals.costKnown && costUsd !== undefined,
  }
}

function allTokens(usage: TokenUsage): number {
  return usage.inputTokens + usage.outputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0)
}
