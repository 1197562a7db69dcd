import type { Message, TokenUsage, ToolSchema } from '@dsh/llm'
import type { Session } from '@dsh/session'

/** Dollars per million tokens. */
export interface ModelPrice {
  readonly provider?: string | undefined
  readonly model: string
  /** The day these prices were read, `YYYY-MM-DD`. */
  readonly asOf: string
  /** Input that no cache answered. */
  readonly input: number
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly output: number
  /** Hours (UTC, from inclusive to exclusive) in which everything costs `factor` times as much. */
  readonly peak?: { readonly hours: readonly (readonly [number, number])[]; readonly factor: number } | undefined
}

/** One model call: an answer, a failed attempt that was billed, or a compaction summary. */
export interface CallUsage {
  readonly kind: 'answer' | 'compaction'
  /** Absent for a summary made between turns. */
  readonly turn?: number
  readonly step?: number
  readonly provider: string
  readonly model: string
  readonly usage: TokenUsage
  /** Absent without prices. */
  readonly costUsd?: number
}

/** Sums over one session, without what a fork inherited. */
export interface SessionUsage {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** Share of the input that the provider's cache answered, 0…1; absent before any input. */
  readonly cacheHitRatio?: number
  /** Of the calls that have prices. */
  readonly costUsd: number
  /** False once a call was made to a model without prices. */
  readonly costKnown: boolean
}

/** `ctx.tokenMeter` */
export interface TokenMeter {
  totals(session: Session): SessionUsage
  lastCall(session: Session): CallUsage | undefined
  /** The calls of one step, failed attempts included. */
  step(session: Session, turn: number, step: number): readonly CallUsage[]
  /** Dollars so far; undefined when some call went to a model without prices. */
  spentUsd(session: Session): number | undefined
  /** Undefined: costs of this model are unknown, and a money budget for it is an error. */
  price(provider: string, model: string): ModelPrice | undefined
  /** Tokens that the next request is expected to hold: prompt, tools and history, anchored on the last real count. */
  contextTokens(session: Session): number
  estimateMessage(message: Message): number
  estimateHeader(header: { readonly system?: string; readonly tools?: readonly ToolSchema[] }): number
}
