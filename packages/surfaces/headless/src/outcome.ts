import type { LlmFailure, TokenUsage } from '@dsh/llm'
import type { SessionEvent, TurnEndReason } from '@dsh/session'

/** How a run ended; the same in every output format. */
export interface Outcome {
  readonly exitCode: number
  readonly subtype: ResultSubtype
  /** The last answer that has text. */
  readonly answer: string | undefined
  /** What went wrong, for stderr and the result document. */
  readonly error?: { readonly code: string; readonly message: string }
}

export type ResultSubtype =
  | 'success'
  | 'error_during_execution'
  | 'error_max_turns'
  | 'error_max_wall_time'
  | 'error_max_budget_usd'
  | 'error_runaway'
  | 'error_max_tokens'
  | 'error_blocked'
  | 'error_usage'

export const exitCodes = { completed: 0, failed: 1, usage: 2, limit: 3, blocked: 4, credentials: 5 } as const

/** Adds up what the events of a run say, one by one. */
export interface RunSummary {
  add(event: SessionEvent): void
  outcome(): Outcome
  /** Steps that asked the model. */
  readonly turns: number
  readonly usage: { readonly input: number; readonly output: number; readonly cacheRead: number }
}

export function summarize(): RunSummary {
  let answer: string | undefined
  let ended: TurnEndReason | undefined
  let limit: string | undefined
  let blocked: string | undefined
  let turns = 0
  const usage = { input: 0, output: 0, cacheRead: 0 }
  const spend = (used: TokenUsage | undefined) => {
    usage.input += used?.inputTokens ?? 0
    usage.output += used?.outputTokens ?? 0
    usage.cacheRead += used?.cacheReadTokens ?? 0
  }
  return {
    add(event) {
      switch (event.type) {
        case 'step/start':
          turns++
          return
        case 'assistant/chunk':
          // Every attempt is paid for, also one that failed later.
          if (event.data.chunk.type === 'usage') spend(event.data.chunk.usage)
          return
        case 'compaction/summary':
          spend(event.data.usage)
          return
        case 'assistant/message': {
          const text = event.data.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
          if (text !== '') answer = text
          return
        }
        case 'turn/start':
          limit = undefined
          blocked = undefined
          return
        case 'turn/limit':
          limit = event.data.limit
          return
        case 'turn/end':
          ended = event.data.reason
          return
        default:
          if ((event.type as string) === 'turn/blocked') blocked = (event as { data: { reason?: string } }).data.reason
      }
    },
    outcome: () => ({ answer, ...judge(ended, limit, blocked) }),
    get turns() {
      return turns
    },
    usage,
  }
}

function judge(
  ended: TurnEndReason | undefined,
  limit: string | undefined,
  blocked: string | undefined,
): Omit<Outcome, 'answer'> {
  if (ended === undefined) return failed({ code: 'NO_TURN', message: 'no turn was run' })
  switch (ended.kind) {
    case 'completed':
      return { exitCode: exitCodes.completed, subtype: 'success' }
    case 'max-tokens':
      return {
        exitCode: exitCodes.failed,
        subtype: 'error_max_tokens',
        error: { code: 'MAX_TOKENS', message: 'the answer was cut at the output token limit' },
      }
    case 'blocked':
      return {
        exitCode: exitCodes.blocked,
        subtype: 'error_blocked',
        error: { code: 'BLOCKED', message: blocked ?? 'the prompt was refused before it reached the model' },
      }
    case 'interrupted':
      return failed({ code: 'INTERRUPTED', message: 'the turn was interrupted' })
    case 'error':
      return failed(ended.error)
    case 'aborted': {
      const message = ended.reason.kind === 'hook' ? ended.reason.reason : 'the run was interrupted'
      if (limit === undefined) return failed({ code: 'ABORTED', message })
      return { exitCode: exitCodes.limit, ...limitNames(limit, message) }
    }
  }
}

const credentialCodes = new Set(['MISSING_CREDENTIAL', 'INVALID_CREDENTIAL', 'AUTH'])

export function failed({ code, message }: Pick<LlmFailure, 'code' | 'message'>): Omit<Outcome, 'answer'> {
  return {
    exitCode: credentialCodes.has(code) ? exitCodes.credentials : exitCodes.failed,
    subtype: 'error_during_execution',
    error: { code, message },
  }
}

function limitNames(limit: string, message: string): Pick<Outcome, 'subtype' | 'error'> {
  const [subtype, code] = ((): [ResultSubtype, string] => {
    switch (limit) {
      case 'max-turns':
        return ['error_max_turns', 'MAX_TURNS']
      case 'max-wall-time':
        return ['error_max_wall_time', 'MAX_WALL_TIME']
      case 'max-budget':
        return ['error_max_budget_usd', 'MAX_BUDGET']
      default:
        return ['error_runaway', 'RUNAWAY']
    }
  })()
  return { subtype, error: { code, message } }
}
