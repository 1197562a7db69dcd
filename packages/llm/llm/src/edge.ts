import { failureOf, LlmCode } from './errors.ts'
import type { GenerateOptions, LlmAdapter, StreamChunk } from './types.ts'

/**
 * One call to an adapter. Whatever it throws, before or during the stream, becomes a single terminal chunk, so that an
 * authored failure leaves exactly one `finish` in the log. Nothing follows a finish.
 */
export async function* callAdapter(adapter: LlmAdapter, options: GenerateOptions): AsyncIterable<StreamChunk> {
  try {
    for await (const chunk of adapter.stream(options)) {
      yield chunk
      if (chunk.type === 'finish') return
    }
  } catch (error) {
    if (adapter.rawErrors === true) throw error
    const failure = failureOf(error)
    const aborted = options.signal?.aborted === true || failure.code === LlmCode.ABORTED
    yield { type: 'finish', reason: { kind: aborted ? 'aborted' : 'error', failure } }
  }
}

/** Puts off `open` until somebody asks for the first chunk, so that every failure arrives through iteration. */
export function lazily(open: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> {
  return {
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<StreamChunk> | undefined
      return {
        // Not async: one promise per chunk and layer is enough.
        next() {
          try {
            inner ??= open()[Symbol.asyncIterator]()
            return inner.next()
          } catch (error) {
            return Promise.reject(error)
          }
        },
        async return(value?: unknown) {
          if (inner?.return) return inner.return(value)
          return { done: true, value: undefined }
        },
      }
    },
  }
}
