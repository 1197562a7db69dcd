import type { ContentBlock, StreamChunk } from '@dsh/llm'
import type { ParsedLog, SessionEvent } from '@dsh/session'

/** One model call as it will be played. */
export type ScriptEntry =
  | { readonly kind: 'chunks'; readonly chunks: readonly StreamChunk[] }
  | { readonly kind: 'throw'; readonly chunks: readonly StreamChunk[]; readonly message: string; readonly code: string }
  /** Says part of an answer, touches the file, then waits to be cancelled. */
  | { readonly kind: 'hang'; readonly readyFile: string }
  /** A call that the log shows without an end: an override says how it went, or it is held until it is cancelled. */
  | {
      readonly kind: 'unfinished'
      readonly turn: number
      readonly step: number
      readonly chunks: readonly StreamChunk[]
    }

export interface Script {
  readonly calls: readonly ScriptEntry[]
  /** Titles that a model wrote, in order; their calls are not in the log. */
  readonly titles: readonly string[]
  /** The text that opened the session: what tells parallel children apart. */
  readonly opening: string | undefined
  readonly createdAt: number
  readonly id: string
}

interface Run {
  readonly turn: number
  readonly step: number
  readonly chunks: StreamChunk[]
}

/** The model calls of a recorded session: each run of chunks up to its finish is one, and so is a summary. */
export function deriveScript(log: ParsedLog): Script {
  const own = log.events.slice(log.header?.seedLength ?? 0)
  return {
    calls: callsOf(own),
    titles: own.flatMap((event) =>
      event.type === 'session/title' && event.data.source.kind === 'provider' ? [event.data.title] : [],
    ),
    opening: openingOf(own),
    createdAt: log.header?.createdAt ?? 0,
    id: log.header?.id ?? '',
  }
}

function callsOf(events: readonly SessionEvent[]): ScriptEntry[] {
  const calls: ScriptEntry[] = []
  let run: Run | undefined
  const breakOff = () => {
    if (run !== undefined) calls.push({ kind: 'unfinished', ...run })
    run = undefined
  }
  for (const event of events) {
    if (event.type === 'compaction/summary') {
      breakOff()
      if (event.data.llmStreamCall === true) calls.push({ kind: 'chunks', chunks: summaryChunks(event.data) })
    } else if (event.type === 'assistant/chunk') {
      const { turn, step, chunk } = event.data
      if (run !== undefined && (run.turn !== turn || run.step !== step)) breakOff()
      run ??= { turn, step, chunks: [] }
      run.chunks.push(chunk)
      if (chunk.type !== 'finish') continue
      calls.push({ kind: 'chunks', chunks: run.chunks })
      run = undefined
    }
  }
  breakOff()
  return calls
}

function summaryChunks(data: {
  readonly rawOutput?: readonly ContentBlock[]
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
}): StreamChunk[] {
  if (data.rawOutput === undefined)
    throw new Error('llm-replay: compaction/summary marks an LLM stream call without rawOutput')
  const blocks = data.rawOutput.flatMap((block, index): StreamChunk[] => [
    {
      type: 'block-start',
      index,
      blockType: block.type === 'reasoning' || block.type === 'tool-call' ? block.type : 'text',
    },
    { type: 'block-end', index, block },
  ])
  return [
    ...blocks,
    ...(data.usage === undefined ? [] : [{ type: 'usage' as const, usage: data.usage }]),
    { type: 'finish', reason: { kind: 'stop' } },
  ]
}

function openingOf(events: readonly SessionEvent[]): string | undefined {
  for (const event of events) {
    if (event.type !== 'user/message') continue
    const text = textOf(event.data.content)
    if (text !== '') return text
  }
  return undefined
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** The primary script first, children by age; equal ones keep the order of their files. */
export function orderChildren(children: readonly Script[]): Script[] {
  return [...children].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** Refuses a script that cannot be played to its end. */
export function requireFinished(calls: readonly ScriptEntry[]): void {
  for (const call of calls)
    if (call.kind === 'unfinished')
      throw new Error(
        `llm-replay: model call ${call.turn}/${call.step} ended without a finish chunk (a thrown stream); this scenario needs a replay.override.json sidecar`,
      )
}
