import type { LlmFailure, RetryPolicy } from '@dsh/llm'

/** Identifies a policy in the log: retries are counted per policy, so that a changed one starts afresh. */
export function policyKey(policy: RetryPolicy): string {
  const delays = [policy.initialDelayMs, policy.maxDelayMs, policy.jitterRatio]
  if (policy.mode === 'always') return JSON.stringify(['always', ...delays])
  return JSON.stringify(['normal', policy.maxRetries, [...policy.retryableCodes].sort(), ...delays])
}

/** The wait before retry number `retry` (from 1); undefined = give up. `random` is in [0, 1). */
export function retryDelay(
  policy: RetryPolicy,
  retry: number,
  failure: LlmFailure,
  random: () => number,
): number | undefined {
  const asked = failure.providerRetryAfterMs
  if (policy.mode === 'normal') {
    if (!policy.retryableCodes.includes(failure.code) || retry > policy.maxRetries) return undefined
    if (asked !== undefined) return asked <= policy.maxRetryAfterMs ? asked : undefined
  }
  const grown = Math.min(policy.initialDelayMs * 2 ** (retry - 1), policy.maxDelayMs)
  const spread = 1 - policy.jitterRatio + 2 * policy.jitterRatio * random()
  return Math.round(Math.min(grown * spread, policy.maxDelayMs))
}
