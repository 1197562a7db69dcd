import { LlmCode, llmError, type StreamChunk } from '@dsh/llm'
import { eventFailure } from './failures.ts'
import { createResponseMapper, malformed } from './response-chunks.ts'
import { createSseParser } from './sse.ts'

/** One event longer than this is no answer of a model. */
const MAX_EVENT_CHARS = 33_554_432

export interface Reading {
  /** In order; what came before a failure is here, too. */
  readonly chunks: readonly StreamChunk[]
  /** The stream is over: by its own word, or because of this failure. */
  readonly end: { readonly failure?: unknown } | undefined
}

export interface StreamReader {
  feed(bytes: Uint8Array): Reading
  /** The connection ended without a last word. */
  close(requireDone: boolean): Reading
}

/** Bytes of an event stream to the chunks they mean. */
export function createStreamReader(displayName: string): StreamReader {
  const decoder = new TextDecoder()
  const parser = createSseParser()
  const mapper = createResponseMapper(displayName)
  const done = (chunks: StreamChunk[]): Reading => ({ chunks: [...chunks, ...mapper.finish()], end: {} })

  return {
    feed(bytes) {
      const chunks: StreamChunk[] = []
      try {
        for (const { event, data } of parser.feed(decoder.decode(bytes, { stream: true }))) {
          if (data === '[DONE]') return done(chunks)
          const wire = parse(data)
          if (event === 'error') throw eventFailure(wire, displayName)
          for (const chunk of mapper.accept(wire)) chunks.push(chunk)
        }
        if (parser.pending > MAX_EVENT_CHARS)
          throw llmError(
            LlmCode.MALFORMED_RESPONSE,
            `${displayName} sent one event of more than ${MAX_EVENT_CHARS} characters`,
          )
        return { chunks, end: undefined }
      } catch (failure) {
        return { chunks, end: { failure } }
      }
    },
    close(requireDone) {
      if (parser.end()?.data === '[DONE]' || (!requireDone && mapper.finished)) return done([])
      return {
        chunks: [],
        end: { failure: llmError(LlmCode.STREAM_CLOSED, 'SSE stream ended without [DONE]') },
      }
    },
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw malformed(data)
  }
}
