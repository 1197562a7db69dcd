import type { GenerateOptions, LlmService, StreamChunk } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    llm: LlmService
  }
  interface Events {
    /** Decision: wraps every model call. Call `next()` to delegate; the result is the stream. */
    'llm/stream'(options: GenerateOptions, next: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk>
  }
}
