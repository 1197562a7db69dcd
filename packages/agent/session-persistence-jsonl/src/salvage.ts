import { isUtf8 } from 'node:buffer'
import {
  expand,
  interruptedTurnClosers,
  isEnvelope,
  isHeaderLine,
  knownTypes,
  type SessionEvent,
  upgradeEvent,
} from '@dsh/session'
import { Rebuild } from './rebuild.ts'
import { firstValue } from './scan.ts'

export interface Salvaged {
  /** The value of the header line, if there is one. */
  readonly header: unknown
  readonly events: readonly SessionEvent[]
  /** Where events with seqs from this one on start now; a fork's header counts what it inherited. */
  readonly movedTo: (seq: number) => number
  /** What was lost, dropped or added; empty when the log was whole. */
  readonly notes: readonly string[]
}

/** Everything in a damaged log that still makes sense, numbered anew. Never throws. */
export function salvage(bytes: Buffer, sessionId: string): Salvaged {
  const notes: string[] = []
  const { value, end } = firstValue(bytes)
  const header = isHeaderLine(value) ? value : undefined
  if (header === undefined) notes.push('line 1: the header cannot be read')
  const found = readRows(bytes, header === undefined ? 0 : end, notes)
  const ordered = inOrder(found, notes)
  const rebuild = new Rebuild()
  const starts: { readonly old: number; readonly now: number }[] = []
  for (const event of ordered) {
    starts.push({ old: event.seq, now: rebuild.events.length })
    const upgraded = upgradeEvent(event, sessionId)
    if (knownTypes.has(upgraded.type) || upgraded.ignorable === true) rebuild.add(upgraded)
    else notes.push(`seq ${event.seq}: dropped ${event.type}, a type that nobody knows`)
  }
  notes.push(...rebuild.notes)
  const closers = interruptedTurnClosers(rebuild.events)
  if (closers.length > 0) notes.push(`closed the turn that was open at the end (${closers.length} events added)`)
  const movedTo = (seq: number) => starts.find(({ old }) => old >= seq)?.now ?? rebuild.events.length
  return { header, events: [...rebuild.events, ...closers], movedTo, notes }
}

/** Every line that is an event or a packed row, with its own numbers. */
function readRows(bytes: Buffer, from: number, notes: string[]): SessionEvent[] {
  const events: SessionEvent[] = []
  let number = from === 0 ? 0 : 1
  for (let start = from; start < bytes.length; ) {
    const at = bytes.indexOf(0x0a, start)
    const end = at < 0 ? bytes.length : at
    number++
    const line = bytes.subarray(start, end)
    start = end + 1
    if (line.length === 0) continue
    try {
      if (!isUtf8(line)) throw new Error('is not UTF-8')
      const value: unknown = JSON.parse(line.toString('utf8'))
      if (isHeaderLine(value)) throw new Error('is a second header')
      const expanded = expand(value as Record<string, unknown>)
      if (!expanded.every(isEnvelope)) throw new Error('is not an event')
      events.push(...expanded)
    } catch (error) {
      notes.push(`line ${number}: dropped (${(error as Error).message}), ${line.length} bytes`)
    }
  }
  return events
}

/** One event per seq, in the order of the seqs; of two different ones the first stays. */
function inOrder(found: readonly SessionEvent[], notes: string[]): SessionEvent[] {
  const bySeq = new Map<number, SessionEvent>()
  for (const event of found) {
    const known = bySeq.get(event.seq)
    if (known === undefined) bySeq.set(event.seq, event)
    else if (JSON.stringify(known) === JSON.stringify(event)) notes.push(`seq ${event.seq}: dropped a repetition`)
    else notes.push(`seq ${event.seq}: two different events, kept the first (${known.type}), dropped ${event.type}`)
  }
  const ordered = [...bySeq.values()].sort((a, b) => a.seq - b.seq)
  for (let i = 0; i < ordered.length; i++) {
    const expected = i === 0 ? 0 : (ordered[i - 1] as SessionEvent).seq + 1
    const { seq } = ordered[i] as SessionEvent
    if (seq > expected) notes.push(`seq ${expected}${seq - 1 > expected ? `–${seq - 1}` : ''}: lost`)
  }
  return ordered
}
