import type { JsonObject, JsonValue } from '@dsh/core'
import { chunkOf, type RecordedEvent } from './transcript.ts'

/** Replaces in every string of a JSON value. Keys stay. */
export function mapStrings(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapStrings(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [key, mapStrings(item, map)]))
}

/**
 * A model streams a path in pieces, so what is to be replaced may lie across several deltas. Moves each such piece
 * of text whole into the delta in which it begins; the number of deltas stays, later ones get shorter or empty.
 */
export function healDeltas(events: readonly RecordedEvent[], find: (text: string) => readonly Span[]): RecordedEvent[] {
  const healed = [...events]
  for (const run of deltaRuns(events)) {
    const texts = run.map((at) => deltaText(events[at] as RecordedEvent))
    const spans = find(texts.join('')).filter((span) => crosses(texts, span))
    if (spans.length === 0) continue
    for (const [i, text] of pulledLeft(texts, spans).entries()) {
      const at = run[i] as number
      healed[at] = withDeltaText(events[at] as RecordedEvent, text)
    }
  }
  return healed
}

export interface Span {
  readonly start: number
  readonly end: number
}

/** Every match of a pattern, as spans. */
export function spansOf(text: string, pattern: RegExp): Span[] {
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length }))
}

function crosses(texts: readonly string[], span: Span): boolean {
  let at = 0
  for (const text of texts) {
    const end = at + text.length
    if (span.start >= at && span.start < end) return span.end > end
    at = end
  }
  return false
}

function pulledLeft(texts: readonly string[], spans: readonly Span[]): string[] {
  const whole = texts.join('')
  const cuts: number[] = []
  let at = 0
  for (const text of texts) {
    at += text.length
    const inside = spans.find((span) => span.start < at && at < span.end)
    cuts.push(inside === undefined ? at : inside.end)
  }
  return cuts.map((cut, i) => whole.slice(i === 0 ? 0 : (cuts[i - 1] as number), cut))
}

/** Indices of the deltas of one block of one model call, in order; blocks may interleave. */
function deltaRuns(events: readonly RecordedEvent[]): number[][] {
  const runs: number[][] = []
  let open = new Map<number, number[]>()
  for (const [at, event] of events.entries()) {
    if (event.type !== 'assistant/chunk') continue
    const chunk = chunkOf(event)
    if (chunk['type'] === 'finish') open = new Map()
    if (!('text' in chunk) && !('argumentsDelta' in chunk)) continue
    const index = chunk['index'] as number
    const run = open.get(index) ?? []
    if (run.length === 0) {
      open.set(index, run)
      runs.push(run)
    }
    run.push(at)
  }
  return runs
}

function deltaText(event: RecordedEvent): string {
  const chunk = chunkOf(event)
  return (chunk['argumentsDelta'] ?? chunk['text']) as string
}

function withDeltaText(event: RecordedEvent, text: string): RecordedEvent {
  const chunk = chunkOf(event)
  const key = 'argumentsDelta' in chunk ? 'argumentsDelta' : 'text'
  return { ...event, data: { ...event.data, chunk: { ...chunk, [key]: text } } }
}
