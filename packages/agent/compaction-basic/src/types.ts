import type { Agent } from '@dsh/agent'

/** `ctx.compaction` */
export interface Compaction {
  /**
   * Summarises the history of an idle agent, all but its newest answer. Undefined: there is nothing to compact yet.
   * Throws COMPACTION_BUSY, _CANCELLED, _CHANGED, _SUMMARY, _COMMIT or _PERSISTENCE.
   */
  compact(
    agent: Agent,
    options?: { readonly sourceCommandId?: string; readonly signal?: AbortSignal },
  ): Promise<{ readonly items: number; readonly tokens: number; readonly checkpointSeq: number } | undefined>
}
