import { DshError, errorText, isDshError } from '@dsh/core'
import type { LlmFailure } from './types.ts'

/** Codes of the model seam. `HTTP_<status>` and an upper-cased finish reason may appear beside them. */
export const LlmCode = {
  NO_ADAPTER: 'NO_ADAPTER',
  DUPLICATE_ADAPTER: 'DUPLICATE_ADAPTER',
  INVALID_ADAPTER: 'INVALID_ADAPTER',
  REGISTRATION_DISPOSED: 'REGISTRATION_DISPOSED',
  UNSUPPORTED_REASONING_EFFORT: 'UNSUPPORTED_REASONING_EFFORT',
  UNSUPPORTED_CONTENT: 'UNSUPPORTED_CONTENT',
  UNSUPPORTED_OPTION: 'UNSUPPORTED_OPTION',
  INVALID_MODEL_INFO: 'INVALID_MODEL_INFO',
  INVALID_MODEL_CONTEXT: 'INVALID_MODEL_CONTEXT',
  INVALID_MODEL_MAX_TOKENS: 'INVALID_MODEL_MAX_TOKENS',
  INVALID_MODEL_REASONING: 'INVALID_MODEL_REASONING',
  MISSING_CREDENTIAL: 'MISSING_CREDENTIAL',
  INVALID_CREDENTIAL: 'INVALID_CREDENTIAL',
  AUTH: 'AUTH',
  QUOTA: 'QUOTA',
  RATE_LIMIT: 'RATE_LIMIT',
  SERVER: 'SERVER',
  TIMEOUT: 'TIMEOUT',
  TRANSPORT: 'TRANSPORT',
  STREAM_CLOSED: 'STREAM_CLOSED',
  MALFORMED_RESPONSE: 'MALFORMED_RESPONSE',
  EMPTY_RESPONSE: 'EMPTY_RESPONSE',
  INVALID_REQUEST: 'INVALID_REQUEST',
  CONTEXT_WINDOW_EXCEEDED: 'CONTEXT_WINDOW_EXCEEDED',
  ABORTED: 'ABORTED',
  UNKNOWN: 'UNKNOWN',
} as const

export interface LlmErrorFacts {
  readonly status?: number
  /** Milliseconds that the provider asked to wait. */
  readonly providerRetryAfterMs?: number
  readonly requestId?: string
  readonly cause?: unknown
  readonly hint?: string
}

/** A model failure; `failureOf` gives back the facts that belong in the log. */
export function llmError(code: string, message: string, facts: LlmErrorFacts = {}): DshError {
  const error = new DshError(code, message, { name: 'LlmError', cause: facts.cause, hint: facts.hint })
  return Object.assign(error, { failure: failureFrom(code, message, facts) })
}

/** Throws a failure that arrived as a finish reason. */
export function errorFromFailure(failure: LlmFailure): DshError {
  return llmError(failure.code, failure.message, failure)
}

/** What the log says about any thrown value: its own facts, else its code and message, else UNKNOWN. */
export function failureOf(error: unknown): LlmFailure {
  if (!isDshError(error)) return { message: errorText(error), code: LlmCode.UNKNOWN }
  const carried = (error as { failure?: LlmFailure }).failure
  return carried ?? { message: error.message, code: error.code }
}

function failureFrom(code: string, message: string, facts: LlmErrorFacts): LlmFailure {
  const { status, providerRetryAfterMs, requestId } = facts
  return {
    message,
    code,
    ...(status !== undefined && status >= 100 && status <= 599 ? { status } : {}),
    ...(providerRetryAfterMs !== undefined && providerRetryAfterMs > 0 ? { providerRetryAfterMs } : {}),
    ...(requestId === undefined || requestId === '' ? {} : { requestId }),
  }
}
