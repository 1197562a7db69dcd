import type { Context } from '@dsh/cordis'
import { Llm } from './service.ts'
import type { GenerateOptions, LlmService, StreamChunk } from './types.ts'

export { type AssembledMessage, type ChunkAssembler, createAssembler } from './assembler.ts'
export { errorFromFailure, failureOf, LlmCode, type LlmErrorFacts, llmError } from './errors.ts'
export { defaultRetryPolicy, type RetryPolicyInput, resolveRetryPolicy, retryPolicySchema } from './retry-policy.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    llm: LlmService
  }
  interface Events {
    /**
     * Decision: wraps every model call. Call `next()` to delegate; the result is the stream. Changes made to `options`
     * reach the guards, which end the call when they differ from the log.
     */
    'llm/stream'(options: GenerateOptions, next: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk>
  }
}

export const name = 'llm'

export async function apply(ctx: Context): Promise<void> {
  new Llm(ctx)
}
