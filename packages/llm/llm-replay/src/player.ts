import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNever } from '@dsh/core'
import { type GenerateOptions, LlmCode, llmError, type StreamChunk } from '@dsh/llm'
import { fillChunk } from './placeholders.ts'
import type { ScriptEntry } from './script.ts'

/** Plays one recorded call. `paceMs` is the pause before each chunk. */
export async function* play(entry: ScriptEntry, options: GenerateOptions, paceMs: number): AsyncIterable<StreamChunk> {
  switch (entry.kind) {
    case 'chunks':
      yield* paced(entry.chunks, options, paceMs)
      return
    case 'throw':
      yield* paced(entry.chunks, options, paceMs)
      throw llmError(entry.code, entry.message)
    case 'hang':
      yield { type: 'block-start', index: 0, blockType: 'text' }
      yield { type: 'text-delta', index: 0, text: 'partial' }
      closeSync(openSync(entry.readyFile, 'a'))
      await aborted(options.signal)
      throw llmError(LlmCode.ABORTED, 'replayed stream aborted by caller')
    case 'unfinished':
      yield* paced(entry.chunks, options, paceMs)
      await aborted(options.signal)
      throw llmError(LlmCode.ABORTED, 'replayed stream aborted by caller')
    default:
      assertNever(entry)
  }
}

async function* paced(
  chunks: readonly StreamChunk[],
  options: GenerateOptions,
  paceMs: number,
): AsyncIterable<StreamChunk> {
  for (const chunk of chunks) {
    if (paceMs > 0) await sleep(paceMs, undefined, options.signal === undefined ? {} : { signal: options.signal })
    // Somebody cancelled here when it was recorded: wait for that, as the model would have gone on.
    if (chunk.type === 'finish' && chunk.reason.kind === 'aborted') await aborted(options.signal)
    yield fillChunk(chunk, options.messages)
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** What a title call is answered with. */
export function titleChunks(title: string): StreamChunk[] {
  return [
    { type: 'block-start', index: 0, blockType: 'text' },
    { type: 'text-delta', index: 0, text: title },
    { type: 'block-end', index: 0, block: { type: 'text', text: title } },
    { type: 'finish', reason: { kind: 'stop' } },
  ]
}
