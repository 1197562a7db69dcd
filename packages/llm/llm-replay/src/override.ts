import type { StreamChunk } from '@dsh/llm'
import * as z from 'zod'
import type { ScriptEntry } from './script.ts'

const index = z.int().min(0)
const chunk = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('block-start'), index, blockType: z.enum(['text', 'reasoning', 'tool-call']) }),
  z.strictObject({ type: z.literal('text-delta'), index, text: z.string() }),
  z.strictObject({ type: z.literal('reasoning-delta'), index, text: z.string() }),
  z.strictObject({
    type: z.literal('tool-call-delta'),
    index,
    id: z.string(),
    name: z.string().optional(),
    argumentsDelta: z.string(),
  }),
  z.strictObject({ type: z.literal('block-end'), index, block: z.looseObject({ type: z.string() }) }),
  z.strictObject({
    type: z.literal('usage'),
    usage: z.looseObject({ inputTokens: z.number(), outputTokens: z.number() }),
  }),
  z.strictObject({
    type: z.literal('finish'),
    reason: z.looseObject({ kind: z.enum(['stop', 'tool-calls', 'max-tokens', 'aborted', 'error']) }),
    replayState: z.looseObject({}).optional(),
  }),
])
const chunks = z.array(chunk)
const entry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('chunks'), chunks }),
  z.strictObject({ kind: z.literal('throw'), chunks, message: z.string(), code: z.string().min(1) }),
  z.strictObject({ kind: z.literal('hang'), readyFile: z.string().min(1) }),
])
const patches = z.strictObject({ patches: z.array(z.strictObject({ at: index, entry })) })

/** Lays a sidecar over the primary script: a list replaces it, patches replace or append single calls. */
export function applyOverride(calls: readonly ScriptEntry[], text: string, file: string): readonly ScriptEntry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`llm-replay: invalid override ${file}: it is no JSON`, { cause: error })
  }
  if (Array.isArray(value)) return parse(z.array(entry), value, file).map(entryOf)
  const out = [...calls]
  const seen = new Set<number>()
  for (const { at, entry: made } of parse(patches, value, file).patches) {
    if (at > calls.length)
      throw new Error(
        `llm-replay: override patch index ${at} out of range (derived script has ${calls.length} call(s); == length appends): ${file}`,
      )
    if (seen.has(at)) throw new Error(`llm-replay: duplicate override patch index ${at}: ${file}`)
    seen.add(at)
    out[at] = entryOf(made)
  }
  return out
}

function entryOf(made: z.infer<typeof entry>): ScriptEntry {
  if (made.kind === 'hang') return made
  return { ...made, chunks: made.chunks as unknown as readonly StreamChunk[] }
}

function parse<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue?.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('') ?? ''
  throw new Error(`llm-replay: invalid override ${file}: ${where === '' ? 'the document' : where} ${issue?.message}`)
}
