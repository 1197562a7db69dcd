import type { Context } from '@dsh/cordis'
import { assertNever } from '@dsh/core'
import { dropNulls } from '../arguments.ts'
import { type Call, targetOf } from '../call.ts'
import { renderOutput } from '../output.ts'
import { failedResult } from '../results.ts'
import type { PostExecuteDecision, ToolResult } from '../types.ts'

/** Policies may replace what the model sees, add context for it, or block the result. */
export async function postExecute(ctx: Context, call: Call, result: ToolResult): Promise<ToolResult> {
  try {
    const decision = await ctx.waterfall(
      targetOf(call),
      'tools/post-execute',
      call.exec,
      result,
      async () => ({ kind: 'accept' }) as const,
    )
    return applyDecision(call, result, decision)
  } catch (error) {
    return failedResult(error)
  }
}

function applyDecision(call: Call, result: ToolResult, decision: PostExecuteDecision): ToolResult {
  switch (decision.kind) {
    case 'block':
      return { content: decision.feedback, isError: true, ...contexts(decision.contexts ?? []) }
    case 'accept':
      return { ...replaced(call, result, decision), ...contexts([...call.deferred, ...(decision.contexts ?? [])]) }
    default:
      return assertNever(decision)
  }
}

function replaced(
  { definition, exec }: Call,
  result: ToolResult,
  { content, value }: Extract<PostExecuteDecision, { kind: 'accept' }>,
): ToolResult {
  if (content !== undefined && value !== undefined)
    throw new Error('tools/post-execute accept decision cannot replace both value and content')
  if (content !== undefined) return { ...result, content }
  if (value === undefined) return result
  if (result.isError || definition === undefined)
    throw new Error('tools/post-execute cannot replace the value of a failed result')
  const { meta: _, ...rest } = result
  const args = dropNulls(definition, exec.arguments)
  return { ...rest, ...renderOutput(definition, args, value, exec.parent === undefined) }
}

function contexts(list: NonNullable<ToolResult['additionalContexts']>): Pick<ToolResult, 'additionalContexts'> {
  return list.length === 0 ? {} : { additionalContexts: list }
}
