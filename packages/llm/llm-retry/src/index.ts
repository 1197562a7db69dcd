import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestError } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import { policyKey, retryDelay } from './policy.ts'
import { lastRetry } from './retry-count.ts'

export const name = 'llm-retry'
export const inject = ['agents']

/** Asks a failed request again, in the same step, under the policy that its provider declares. */
export async function apply(ctx: Context, config?: object): Promise<void> {
  refuseConfig(config ?? {})
  ctx.on('agent/request-error', async (input, next) => {
    const policy = ctx.get('llm')?.retryPolicy(input.provider)
    if (policy === undefined) return next()
    // Unbounded retries come last: a compaction, say, may cure the failure for good.
    if (policy.mode === 'always') {
      const cured = await next()
      if (cured !== undefined) return cured
    }
    const { session } = input.agent
    const scope = { turn: input.turn, step: input.step, provider: input.provider, policyKey: policyKey(policy) }
    const last = lastRetry(session.events, scope)
    const retry = (last?.retry ?? 0) + 1
    const delayMs = retryDelay(policy, retry, input.failure, Math.random)
    if (delayMs === undefined) return policy.mode === 'always' ? undefined : next()
    const retryId = last?.retryId ?? randomUUID()
    session.append('llm/retry', {
      retryId,
      turn: scope.turn,
      step: scope.step,
      provider: scope.provider,
      mode: policy.mode,
      policyKey: scope.policyKey,
      retry,
      ...(policy.mode === 'normal' ? { maxRetries: policy.maxRetries } : {}),
      delayMs,
      failure: input.failure,
    })
    await wait(delayMs, input)
    session.append('llm/retry-started', { retryId, turn: scope.turn, step: scope.step, retry })
    return { kind: 'retry' }
  })
}

/** A cancelled wait throws what the turn was cancelled with: the loop ends it as aborted. */
async function wait(delayMs: number, { signal }: RequestError): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

function refuseConfig(config: object): void {
  const [key] = Object.keys(config)
  if (key === undefined) return
  throw new DshError(
    'INVALID_CONFIG',
    key === 'retryPolicy'
      ? 'llm-retry: retryPolicy belongs under each provider configuration'
      : `llm-retry: unknown key "${key}"`,
  )
}
