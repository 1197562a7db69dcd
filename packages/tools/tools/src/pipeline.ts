import { type Context, notify } from '@dsh/cordis'
import { parseArguments } from './arguments.ts'
import { type Call, startCall, targetOf, type Verdict } from './call.ts'
import { abortedBeforeDispatch } from './errors.ts'
import { failedResult, freezeResult } from './results.ts'
import { askPerson } from './stages/approval.ts'
import { execute } from './stages/execute.ts'
import { finalize } from './stages/finalize.ts'
import { type Guard, runGuards } from './stages/guards.ts'
import { postExecute } from './stages/post-execute.ts'
import { preExecute } from './stages/pre-execute.ts'
import type { AdmittedCall, ToolCallInput, ToolDefinition } from './types.ts'

export interface PipelineHost {
  readonly ctx: Context
  readonly definition: (input: ToolCallInput) => ToolDefinition | undefined
  readonly guards: (input: ToolCallInput) => readonly Guard[]
}

/**
 * The way of a tool call: pre-execute, approval, guards; then execute with the body inside; then post-execute,
 * finalize and the frozen result. The first and the last group run in model order, the middle one overlaps.
 */
export async function admit(host: PipelineHost, input: ToolCallInput): Promise<AdmittedCall> {
  const parsed = parseArguments(input.arguments)
  const call = startCall(input, parsed.kind === 'parsed' ? parsed.value : input.arguments, host.definition(input))
  let verdict: Verdict | undefined =
    parsed.kind === 'lossy'
      ? refused('tool execution arguments must be losslessly JSON-serializable', true)
      : await policy(host, call, host.guards(input))

  return {
    async run() {
      verdict ??= await execute(host.ctx, call)
    },
    async finish() {
      verdict ??= await execute(host.ctx, call)
      const judged = verdict.final ? verdict.result : await postExecute(host.ctx, call, verdict.result)
      const result = freezeResult(finalize(call, judged))
      notify(host.ctx, targetOf(call), 'tools/result', Object.freeze({ ...call.exec }), result)
      return result
    },
  }
}

/** Everything that can say no before the body; undefined lets the call through. */
async function policy(host: PipelineHost, call: Call, guards: readonly Guard[]): Promise<Verdict | undefined> {
  if (call.callerSignal.aborted) return { result: failedResult(abortedBeforeDispatch()), final: true }
  try {
    const decision = await preExecute(host.ctx, call)
    if (decision.kind === 'deny') return refused(decision.reason)
    if (decision.kind === 'ask') {
      const refusal = await askPerson(host.ctx.get('approval'), call, decision.reason)
      if (refusal !== undefined) return { result: failedResult(refusal), final: false }
    }
    const denied = runGuards(guards, call)
    return denied === undefined ? undefined : refused(denied)
  } catch (error) {
    return { result: failedResult(error), final: true }
  }
}

function refused(reason: string, final = false): Verdict {
  return { result: failedResult(new Error(reason)), final }
}
