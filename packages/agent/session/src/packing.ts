import { isSeq } from './append-rules.ts'
import { sessionError } from './errors.ts'
import type { SessionEvent, SessionEventOf } from './types.ts'

/** Storage only: a run of three or more deltas of one block becomes one line; the log in memory never sees it. */
export interface PackedRow {
  readonly type: 'text-chunks' | 'reasoning-chunks' | 'tool-call-chunks'
  readonly seq0: number
  readonly time0: number
  readonly data: {
    readonly turn: number
    readonly step: number
    readonly index: number
    /** Time differences, one fewer than there are deltas; may be negative. */
    readonly dt: readonly number[]
    readonly texts?: readonly string[]
    readonly id?: string
    readonly name?: string
    readonly args?: readonly string[]
  }
}

type ChunkEvent = SessionEventOf<'assistant/chunk'>
const rowOf = {
  'text-delta': 'text-chunks',
  'reasoning-delta': 'reasoning-chunks',
  'tool-call-delta': 'tool-call-chunks',
} as const
type DeltaType = keyof typeof rowOf

export const minimumRun = 3

/** Whether `event` can be part of a packed run: a delta with exactly the expected keys. */
export function isPackable(event: SessionEvent): event is ChunkEvent {
  if (event.type !== 'assistant/chunk' || Object.keys(event).length !== 4) return false
  const { chunk } = event.data
  if (Object.keys(event.data).length !== 3) return false
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return Object.keys(chunk).length === 3
  return chunk.type === 'tool-call-delta' && Object.keys(chunk).length === (chunk.name === undefined ? 4 : 5)
}

/** Whether `next` continues the run that `event` belongs to. Both are packable. */
export function continuesRun(event: ChunkEvent, next: ChunkEvent): boolean {
  const [a, b] = [event.data, next.data]
  if (next.seq !== event.seq + 1 || a.turn !== b.turn || a.step !== b.step) return false
  if (a.chunk.type !== b.chunk.type || indexOf(a.chunk) !== indexOf(b.chunk)) return false
  if (a.chunk.type !== 'tool-call-delta' || b.chunk.type !== 'tool-call-delta') return true
  return a.chunk.id === b.chunk.id && a.chunk.name === b.chunk.name
}

function indexOf(chunk: ChunkEvent['data']['chunk']): number {
  return (chunk as { index: number }).index
}

/** The lines that a batch of events is stored as: events, and packed rows for its runs. */
export function pack(events: readonly SessionEvent[]): readonly (SessionEvent | PackedRow)[] {
  const rows: (SessionEvent | PackedRow)[] = []
  for (let i = 0; i < events.length; ) {
    const end = runEnd(events, i)
    if (end - i >= minimumRun) rows.push(packRun(events.slice(i, end) as ChunkEvent[]))
    else rows.push(...events.slice(i, end))
    i = end
  }
  return rows
}

/** Index behind the run that starts at `start`; at least `start + 1`. */
function runEnd(events: readonly SessionEvent[], start: number): number {
  let last = events[start]
  let end = start + 1
  if (last === undefined || !isPackable(last)) return end
  for (; end < events.length; end++) {
    const next = events[end]
    if (next === undefined || !isPackable(next) || !continuesRun(last, next)) break
    last = next
  }
  return end
}

/** Where the run at the end of `events` starts, so that a writer can hold it until its block ends. */
export function openRunStart(events: readonly SessionEvent[]): number {
  let start = events.length
  for (; start > 0; start--) {
    const event = events[start - 1]
    const next = events[start]
    if (event === undefined || !isPackable(event)) break
    if (next !== undefined && !continuesRun(event, next as ChunkEvent)) break
  }
  return start
}

function packRun(run: readonly ChunkEvent[]): PackedRow {
  const first = run[0] as ChunkEvent
  const { turn, step, chunk } = first.data
  const dt = run.slice(1).map((event, i) => event.time - (run[i] as ChunkEvent).time)
  const base = { turn, step, index: indexOf(chunk), dt }
  const type = rowOf[chunk.type as DeltaType]
  const data =
    chunk.type === 'tool-call-delta'
      ? {
          ...base,
          id: chunk.id,
          ...(chunk.name === undefined ? {} : { name: chunk.name }),
          args: run.map((event) => (event.data.chunk as { argumentsDelta: string }).argumentsDelta),
        }
      : { ...base, texts: run.map((event) => (event.data.chunk as { text: string }).text) }
  return { type, seq0: first.seq, time0: first.time, data }
}

export function isPackedType(type: unknown): type is PackedRow['type'] {
  return type === 'text-chunks' || type === 'reasoning-chunks' || type === 'tool-call-chunks'
}

/** The events of a packed row. Throws `malformed <tag> storage row: …` for anything but the exact shape. */
export function unpack(row: Readonly<Record<string, unknown>>): SessionEvent[] {
  const { type: tag, seq0, time0, data } = row
  if (!isPackedType(tag)) throw invalidRow(String(tag), 'unknown tag')
  if (Object.keys(row).join() !== 'type,seq0,time0,data' && !sameKeys(row, ['type', 'seq0', 'time0', 'data']))
    throw invalidRow(tag, 'the envelope must be exactly type, seq0, time0, data')
  if (!isSeq(seq0) || !Number.isSafeInteger(time0)) throw invalidRow(tag, 'seq0 and time0 must be safe integers')
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw invalidRow(tag, 'data must be an object')
  const { turn, step, index, dt, texts, id, name, args } = data as Record<string, unknown>
  const isCall = tag === 'tool-call-chunks'
  const keys = [
    'turn',
    'step',
    'index',
    'dt',
    ...(isCall ? ['id', ...(name === undefined ? [] : ['name']), 'args'] : ['texts']),
  ]
  if (!sameKeys(data, keys)) throw invalidRow(tag, `data must be exactly ${keys.join(', ')}`)
  if (![turn, step, index].every(Number.isSafeInteger))
    throw invalidRow(tag, 'turn, step and index must be safe integers')
  const parts: unknown = isCall ? args : texts
  if (!isArrayOf(parts, isString) || parts.length < 1) throw invalidRow(tag, 'it must hold one string or more')
  if (!isArrayOf(dt, Number.isSafeInteger) || dt.length !== parts.length - 1)
    throw invalidRow(tag, 'dt must hold one safe integer fewer than there are strings')
  if (isCall && (!isString(id) || (name !== undefined && !isString(name))))
    throw invalidRow(tag, 'id and name must be strings')

  let time = time0 as number
  return parts.map((part, i) => {
    if (i > 0) time += dt[i - 1] as number
    const chunk = isCall
      ? { type: 'tool-call-delta', index, id, ...(name === undefined ? {} : { name }), argumentsDelta: part }
      : { type: tag === 'text-chunks' ? 'text-delta' : 'reasoning-delta', index, text: part }
    const event = { type: 'assistant/chunk', seq: seq0 + i, time, data: { turn, step, chunk } }
    return event as unknown as SessionEvent
  })
}

function sameKeys(value: object, keys: readonly string[]): boolean {
  const own = Object.keys(value)
  return own.length === keys.length && keys.every((key) => own.includes(key))
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isArrayOf<T>(value: unknown, check: (item: unknown) => item is T): value is T[]
function isArrayOf(value: unknown, check: (item: unknown) => boolean): value is number[]
function isArrayOf(value: unknown, check: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(check)
}

function invalidRow(tag: string, why: string) {
  return sessionError('SESSION_LOG_CORRUPT', `malformed ${tag} storage row: ${why}`)
}
