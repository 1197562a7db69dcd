import type { ContentBlock, FinishReason, StreamChunk } from '@dsh/llm'
import * as z from 'zod'

const callSchema = z.strictObject({ name: z.string(), args: z.unknown(), id: z.string().optional() })
const usageSchema = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
})
const failureSchema = z.object({ message: z.string(), code: z.string(), status: z.number().optional() })

/** What a scripted model answers to one request. */
const replySchema = z.strictObject({
  reasoning: z.string().optional(),
  text: z.string().optional(),
  /** `args` is an object, or a string that is sent as it is. */
  calls: z.array(callSchema).optional(),
  usage: usageSchema.optional(),
  /** Default: `tool-calls` when there are calls, else `stop`. */
  finish: z.enum(['stop', 'tool-calls', 'max-tokens']).optional(),
  /** Ends the stream with this failure. */
  failure: failureSchema.optional(),
})
export type Reply = z.infer<typeof replySchema>
export type ScriptedCall = z.infer<typeof callSchema>

/** One answer of `script.json`; `hang` says "partial" and waits to be cancelled, `throw` breaks the stream. */
const entrySchema = z.union([
  replySchema,
  z.strictObject({ hang: z.strictObject({ readyFile: z.string() }) }),
  z.strictObject({ throw: failureSchema }),
  /** The replies behind it are for the process that takes the session up again. */
  z.strictObject({ resume: z.literal(true) }),
])
export const scriptSchema = z.array(entrySchema).min(1)
export type ScriptEntry = z.infer<typeof entrySchema>

const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 900 }

/** The n-th process's replies as the entries of a `replay.override.json`. */
export function overrideOf(script: readonly ScriptEntry[], process: number): object[] {
  const parts: ScriptEntry[][] = [[]]
  for (const entry of script) {
    if ('resume' in entry) parts.push([])
    else parts.at(-1)?.push(entry)
  }
  const before = parts.slice(0, process).reduce((sum, part) => sum + part.length, 0)
  return (parts[process] ?? []).map((entry, at) => entryOf(entry, before + at + 1))
}

function entryOf(entry: ScriptEntry, number: number): object {
  if ('hang' in entry) return { kind: 'hang', ...entry.hang }
  if ('throw' in entry) return { kind: 'throw', chunks: [], message: entry.throw.message, code: entry.throw.code }
  return { kind: 'chunks', chunks: chunksOf(entry as Reply, number) }
}

/** The chunks of one reply, streamed word by word. `number` makes call ids unique. */
export function chunksOf(reply: Reply, number: number): StreamChunk[] {
  const chunks: StreamChunk[] = []
  let index = 0
  const block = (deltas: StreamChunk[], end: ContentBlock & { type: 'text' | 'reasoning' | 'tool-call' }) => {
    chunks.push({ type: 'block-start', index, blockType: end.type }, ...deltas, {
      type: 'block-end',
      index,
      block: end,
    })
    index++
  }
  for (const type of ['reasoning', 'text'] as const) {
    const text = reply[type]
    if (text === undefined) continue
    const deltas = pieces(text).map((piece): StreamChunk => ({ type: `${type}-delta`, index, text: piece }))
    block(deltas, { type, text })
  }
  for (const [at, { name, args, id = `call_${number}_${at}` }] of (reply.calls ?? []).entries()) {
    const raw = typeof args === 'string' ? args : JSON.stringify(args)
    const deltas = pieces(raw).map(
      (piece): StreamChunk => ({ type: 'tool-call-delta', index, id, name, argumentsDelta: piece }),
    )
    block(deltas, { type: 'tool-call', id, name, arguments: raw })
  }
  if (reply.failure === undefined) chunks.push({ type: 'usage', usage: defined(reply.usage ?? usage) })
  chunks.push({ type: 'finish', reason: reasonOf(reply) })
  return chunks
}

function reasonOf(reply: Reply): FinishReason {
  if (reply.failure !== undefined) return { kind: 'error', failure: defined(reply.failure) }
  return { kind: reply.finish ?? (reply.calls === undefined ? 'stop' : 'tool-calls') }
}

/** Runs of deltas have to be real ones: a word each. A placeholder stays in one piece. */
function pieces(text: string): string[] {
  if (text.includes('{{fromRequest:')) return [text]
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]
}

function defined<T extends object>(value: T): any {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))
}
