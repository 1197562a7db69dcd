import type { JsonObject, JsonValue } from '@dsh/core'
import { chunkOf, type RecordedEvent, type Transcript } from './transcript.ts'

/**
 * A normalised transcript as lines that a person can read a diff of. Everything compared is in there: two
 * transcripts are the same when these lines are. Seqs are written as distances, so that one event more or less
 * shows as that, and not as a change of everything behind it.
 */
export function readableLines(transcript: Transcript): string[] {
  const lines = [`session ${inline(omit(transcript.header, ['type', 'id', 'createdAt']))}`]
  const { events } = transcript
  for (let at = 0; at < events.length; ) {
    const event = events[at] as RecordedEvent
    if (event.type !== 'assistant/chunk') {
      lines.push(...eventLines(event))
      at++
      continue
    }
    let end = at
    while (end < events.length && events[end]?.type === 'assistant/chunk') end++
    lines.push(...chunkLines(events.slice(at, end)))
    at = end
  }
  return lines
}

function eventLines(event: RecordedEvent): string[] {
  const marks: Record<string, JsonValue> = {}
  if (event.surfaceOp !== undefined && event.surfaceOp !== 'append')
    marks['replaces'] = `${event.surfaceOp.start - event.seq}..${event.surfaceOp.end - event.seq}`
  if (event.sourceEventSeqs !== undefined) marks['from'] = distances(event.sourceEventSeqs, event.seq)
  if (event.ignorable) marks['ignorable'] = true
  const where = ['turn', 'step'].flatMap((key) =>
    typeof event.data[key] === 'number' ? [`${key} ${event.data[key]}`] : [],
  )
  const head = [event.type, ...where, ...(event.surfaceOp === 'append' ? ['append'] : [])].join('  ')
  const data = omit(relativeSeqs(event), where.length === 0 ? [] : ['turn', 'step'])
  return ['', head, ...bodyLines({ ...data, ...marks }, '  ')]
}

/** One message of the surface, for a diff of what the model would have seen. */
export function readableMessage(event: RecordedEvent): string {
  const { message, ...rest } = event.data
  const shown = message === undefined ? omit(event.data, ['id']) : { ...omit(message as JsonObject, ['id']), ...rest }
  return [`${event.type}`, ...bodyLines(omit(shown, ['turn', 'step', 'usage', 'meta']), '  '), ''].join('\n')
}

/** The deltas of one model call, block by block: `text-delta 0 ×3`, then what they say. */
function chunkLines(run: readonly RecordedEvent[]): string[] {
  const { turn, step } = (run[0] as RecordedEvent).data
  const lines = ['', `assistant/chunk  turn ${inline(turn)}  step ${inline(step)}`]
  for (let at = 0; at < run.length; ) {
    const chunk = chunkOf(run[at] as RecordedEvent)
    const key = 'argumentsDelta' in chunk ? 'argumentsDelta' : 'text'
    if (!String(chunk['type']).endsWith('-delta')) {
      lines.push(`  ${inline(chunk)}`)
      at++
      continue
    }
    let end = at
    const head = JSON.stringify(omit(chunk, [key]))
    while (end < run.length && JSON.stringify(omit(chunkOf(run[end]!), [key])) === head) end++
    const pieces = run.slice(at, end).map((event) => chunkOf(event)[key] as string)
    lines.push(`  ${head} in pieces ${JSON.stringify(pieces)}`)
    at = end
  }
  return lines
}

function relativeSeqs(event: RecordedEvent): JsonObject {
  const data: Record<string, JsonValue> = { ...event.data }
  for (const key of ['shadowedSeqs', 'messageSeqs'])
    if (Array.isArray(data[key])) data[key] = distances(data[key] as number[], event.seq)
  const range = data['shadowedRange'] as { start: number; end: number } | undefined
  if (range !== undefined) data['shadowedRange'] = `${range.start - event.seq}..${range.end - event.seq}`
  if (typeof data['sourceEventSeq'] === 'number') data['sourceEventSeq'] = data['sourceEventSeq'] - event.seq
  return data
}

/** `[4,5,6,9]` seen from 10 is `-6..-4, -1`. */
function distances(seqs: readonly number[], own: number): string {
  const parts: string[] = []
  for (let at = 0; at < seqs.length; ) {
    let end = at
    while (seqs[end + 1] === (seqs[end] as number) + 1) end++
    const [a, b] = [(seqs[at] as number) - own, (seqs[end] as number) - own]
    parts.push(a === b ? `${a}` : `${a}..${b}`)
    at = end + 1
  }
  return parts.join(', ')
}

function bodyLines(value: JsonValue, indent: string): string[] {
  if (typeof value === 'object' && value !== null) {
    const entries: [string, JsonValue][] = Array.isArray(value)
      ? value.map((item: JsonValue) => ['-', item])
      : Object.entries(value as JsonObject)
    if (entries.length > 0 && JSON.stringify(value).length > 60) {
      return entries.flatMap(([key, item]) => fieldLines(key, item, indent))
    }
    if (entries.length > 0 && !Array.isArray(value)) return entries.flatMap(([k, item]) => fieldLines(k, item, indent))
  }
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
    ? []
    : [`${indent}${inline(value)}`]
}

function fieldLines(key: string, value: JsonValue, indent: string): string[] {
  const label = key === '-' ? '-' : `${key}:`
  if (typeof value === 'string' && value.includes('\n'))
    return [`${indent}${label} |`, ...value.split('\n').map((line) => `${indent}  ${visible(line)}`)]
  if (typeof value === 'object' && value !== null && JSON.stringify(value).length > 60)
    return [`${indent}${label}`, ...bodyLines(value, `${indent}  `)]
  return [`${indent}${label} ${inline(value)}`]
}

function inline(value: JsonValue | undefined): string {
  return value === undefined ? '-' : JSON.stringify(value)
}

/** Control characters as escapes, and a mark where trailing blanks would not be seen. */
function visible(line: string): string {
  const text = line.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (c) => JSON.stringify(c).slice(1, -1))
  return text.replace(/[ \t]+$/, (blanks) => `${blanks}⏎`)
}

function omit(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}
