import type { SessionEvent, SessionEventOf } from '@dsh/session'

export interface RetryScope {
  readonly turn: number
  readonly step: number
  readonly provider: string
  readonly policyKey: string
}

/** The last retry of this step under this policy. Reads the log back to the step's start, so it survives compaction and resume. */
export function lastRetry(
  events: readonly SessionEvent[],
  scope: RetryScope,
): SessionEventOf<'llm/retry'>['data'] | undefined {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as SessionEvent
    if (event.type === 'step/start') return undefined
    if (event.type !== 'llm/retry') continue
    const { data } = event
    if (
      data.turn === scope.turn &&
      data.step === scope.step &&
      data.provider === scope.provider &&
      data.policyKey === scope.policyKey
    )
      return data
  }
  return undefined
}
