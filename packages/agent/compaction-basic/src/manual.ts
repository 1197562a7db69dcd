import type { Agent } from '@dsh/agent'
import { errorText, isDshError } from '@dsh/core'
import type { Session } from '@dsh/session'
import type { Compact, Compacted } from './compactor.ts'
import { CompactionCode, compactionError } from './errors.ts'

export interface ManualRequest {
  readonly sourceCommandId?: string
  readonly signal?: AbortSignal
}

/** Compacts an idle agent's history because somebody asked for it, and saves that. */
export async function compactIdle(
  compact: Compact,
  agent: Agent,
  { sourceCommandId, signal }: ManualRequest,
  flush: ((session: Session) => Promise<void>) | undefined,
): Promise<Compacted | undefined> {
  if (agent.status !== 'idle')
    throw compactionError(CompactionCode.BUSY, `agent "${agent.id}" is at work; compact when it is idle`)
  return agent.runMaintenance(async (maintenance) => {
    const { session } = agent
    const done = await named(CompactionCode.COMMIT, 'the summary could not be put in place', () =>
      compact({
        session,
        turn: null,
        retainTokens: 0,
        ...(sourceCommandId === undefined ? {} : { sourceCommandId }),
        signal: signal === undefined ? maintenance : AbortSignal.any([maintenance, signal]),
      }),
    )
    await named(CompactionCode.PERSISTENCE, 'compacted, but not saved', async () => flush?.(session))
    return done
  })
}

async function named<T>(
  code: (typeof CompactionCode)[keyof typeof CompactionCode],
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isDshError(error) && error.name === 'CompactionError') throw error
    throw compactionError(code, `${what}: ${errorText(error)}`, error)
  }
}
