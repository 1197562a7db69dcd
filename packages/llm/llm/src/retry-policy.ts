import * as z from 'zod'
import { LlmCode } from './errors.ts'
import type { RetryPolicy } from './types.ts'

const count = () => z.int().min(0)
const delay = () => z.int().min(0).max(2_147_483_647)

const backoffShape = () => ({
  initialDelayMs: delay().optional(),
  maxDelayMs: delay().optional(),
  jitterRatio: z.number().min(0).max(1).optional(),
})

/** `retryPolicy` of a provider's config. The backoff may stand in a `backoff` mapping or beside the other keys. */
export const retryPolicySchema = () =>
  z.discriminatedUnion('mode', [
    z.strictObject({
      mode: z.literal('normal'),
      maxRetries: count().optional(),
      retryableCodes: z.array(z.string().min(1)).optional(),
      maxRetryAfterMs: delay().optional(),
      backoff: z.strictObject(backoffShape()).optional(),
      ...backoffShape(),
    }),
    z.strictObject({
      mode: z.literal('always'),
      backoff: z.strictObject(backoffShape()).optional(),
      ...backoffShape(),
    }),
  ])
export type RetryPolicyInput = z.infer<ReturnType<typeof retryPolicySchema>>

/** Failures that asking again can cure. A request fails before any tool of its step runs, so a cut stream is among them. */
const retryableCodes = [
  LlmCode.EMPTY_RESPONSE,
  LlmCode.MALFORMED_RESPONSE,
  LlmCode.RATE_LIMIT,
  LlmCode.SERVER,
  LlmCode.STREAM_CLOSED,
  LlmCode.TIMEOUT,
  LlmCode.TRANSPORT,
]

const backoff = { initialDelayMs: 500, maxDelayMs: 10_000, jitterRatio: 0.1 }

export const defaultRetryPolicy = {
  mode: 'normal',
  maxRetries: 5,
  retryableCodes,
  ...backoff,
  maxRetryAfterMs: 60_000,
} as const satisfies RetryPolicy

export function resolveRetryPolicy(input: RetryPolicyInput | undefined): RetryPolicy {
  if (input === undefined) return defaultRetryPolicy
  const delays = {
    initialDelayMs: input.backoff?.initialDelayMs ?? input.initialDelayMs ?? backoff.initialDelayMs,
    maxDelayMs: input.backoff?.maxDelayMs ?? input.maxDelayMs ?? backoff.maxDelayMs,
    jitterRatio: input.backoff?.jitterRatio ?? input.jitterRatio ?? backoff.jitterRatio,
  }
  if (input.mode === 'always') return { mode: 'always', ...delays }
  return {
    mode: 'normal',
    maxRetries: input.maxRetries ?? defaultRetryPolicy.maxRetries,
    retryableCodes: [...(input.retryableCodes ?? retryableCodes)].sort(),
    ...delays,
    maxRetryAfterMs: input.maxRetryAfterMs ?? defaultRetryPolicy.maxRetryAfterMs,
  }
}
