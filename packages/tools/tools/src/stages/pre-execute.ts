import type { Context } from '@dsh/cordis'
import { type Call, targetOf } from '../call.ts'
import type { PreExecuteDecision } from '../types.ts'

/** Policies may deny the call or ask a person; with none it is allowed. */
export async function preExecute(ctx: Context, call: Call): Promise<PreExecuteDecision> {
  return ctx.waterfall(targetOf(call), 'tools/pre-execute', call.exec, async () => ({ kind: 'allow' as const }))
}
