import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { Tools } from './registry.ts'
import type { PostExecuteDecision, PreExecuteDecision, ToolExecution, ToolResult, ToolsService } from './types.ts'

export { aborted, abortedBeforeDispatch, toolError, toolErrors } from './errors.ts'
export { type Guidance, guide } from './guidance.ts'
export { failedResult } from './results.ts'
export type * from './types.ts'
export { violations } from './validate.ts'

declare module '@dsh/cordis' {
  interface Context {
    tools: ToolsService
  }
  interface Events {
    /** Decision: allow, deny or ask. Default: allow. */
    'tools/pre-execute'(exec: ToolExecution, next: () => Promise<PreExecuteDecision>): Promise<PreExecuteDecision>
    /** Decision: wraps the body (deadlines, checkpoints). May change `exec.signal` only. */
    'tools/execute'(exec: ToolExecution & { signal: AbortSignal }, next: () => Promise<ToolResult>): Promise<ToolResult>
    /** Decision: accept, replace or block what the model sees. */
    'tools/post-execute'(
      exec: ToolExecution,
      result: ToolResult,
      next: () => Promise<PostExecuteDecision>,
    ): Promise<PostExecuteDecision>
    /** Fact: the frozen result. */
    'tools/result'(exec: ToolExecution, result: ToolResult): void
    'tools/change'(): void
  }
}

export const name = 'tools'

export const Config = lazySchema(() =>
  z
    .strictObject({
      /** How tools are offered to the model: each one by its own name. */
      mode: z.literal('native', { error: 'mode must be native: there is no code mode here' }).optional(),
    })
    .prefault({}),
)

export async function apply(ctx: Context): Promise<void> {
  new Tools(ctx)
}
