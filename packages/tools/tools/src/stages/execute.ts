import type { Context } from '@dsh/cordis'
import { type Call, targetOf, type Verdict } from '../call.ts'
import { failedResult } from '../results.ts'
import { runBody } from './body.ts'

/** The wrappers (deadline, checkpoint) around the body. A wrapper's throw is final; the body's own failure is a result. */
export async function execute(ctx: Context, call: Call): Promise<Verdict> {
  const { exec, callerSignal } = call
  try {
    const result = await ctx.waterfall(targetOf(call), 'tools/execute', exec, async () => {
      const given = exec.signal
      exec.signal = given === callerSignal ? given : AbortSignal.any([given, callerSignal])
      try {
        return await runBody(call)
      } finally {
        exec.signal = given
      }
    })
    return { result, final: false }
  } catch (error) {
    return { result: failedResult(error), final: true }
  } finally {
    exec.signal = callerSignal
  }
}
