import type { Outcome, RunSummary } from './outcome.ts'

/** The last line of every run under `--output-format json` and `stream-json`; described in docs/headless.md. */
export interface ResultDocument {
  readonly type: 'result'
  readonly subtype: Outcome['subtype']
  readonly is_error: boolean
  readonly result: string
  readonly session_id: string
  readonly num_turns: number
  readonly duration_ms: number
  readonly total_cost_usd: number
  /** False when the model has no prices: `total_cost_usd` then counts nothing. */
  readonly cost_known: boolean
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cache_read_input_tokens: number
  }
  readonly error?: { readonly code: string; readonly message: string }
}

export interface RunFacts {
  readonly sessionId: string | undefined
  readonly durationMs: number
  readonly summary: Pick<RunSummary, 'turns' | 'usage'> | undefined
  readonly costUsd: number | undefined
}

export function resultDocument(outcome: Outcome, facts: RunFacts): ResultDocument {
  const { usage, turns } = facts.summary ?? { turns: 0, usage: { input: 0, output: 0, cacheRead: 0 } }
  return {
    type: 'result',
    subtype: outcome.subtype,
    is_error: outcome.exitCode !== 0,
    result: outcome.answer ?? '',
    session_id: facts.sessionId ?? '',
    num_turns: turns,
    duration_ms: Math.max(1, Math.round(facts.durationMs)),
    total_cost_usd: facts.costUsd ?? 0,
    cost_known: facts.costUsd !== undefined,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cacheRead,
    },
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
  }
}
