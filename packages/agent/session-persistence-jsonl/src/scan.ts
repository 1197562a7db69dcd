import { isUtf8 } from 'node:buffer'
import { expand, isEnvelope, type SessionEvent, sessionError } from '@dsh/session'

export interface Scan {
  readonly events: readonly SessionEvent[]
  /** Bytes of the text that hold the header and `events`. */
  readonly goodBytes: number
  /** Set when the rest was left out: a writer died in the middle of it. */
  readonly dropped?: Dropped
}

export interface Dropped {
  /** Of the first line that was left out. */
  readonly line: number
  readonly bytes: number
  readonly lines: number
  readonly why: string
  /** The text itself. */
  readonly tail: Buffer
}

interface Line {
  readonly number: number
  readonly start: number
  /** Behind the newline. */
  readonly end: number
  readonly terminated: boolean
}

const newline = 0x0a

/** The first line as it is, broken or not. */
export function firstValue(bytes: Buffer): { readonly value: unknown; readonly end: number } {
  const at = bytes.indexOf(newline)
  const end = at < 0 ? bytes.length : at + 1
  try {
    return { value: parseFirst(bytes, end), end }
  } catch {
    return { value: undefined, end }
  }
}

/** The value of the first line; the version guard must see it before anything else is read. */
export function firstLine(bytes: Buffer): { readonly value: unknown; readonly end: number } {
  const at = bytes.indexOf(newline)
  if (at < 0) throw corrupt('empty or header-less session log')
  try {
    return { value: parseFirst(bytes, at), end: at + 1 }
  } catch (error) {
    throw corrupt('corrupt session log: header line is not valid JSON', error)
  }
}

/** Some editors put a byte order mark in front of what they save; it says nothing. */
export function parseFirst(bytes: Buffer, end: number): unknown {
  return JSON.parse(bytes.toString('utf8', 0, end).replace(/^\uFEFF/, ''))
}

/**
 * Reads the lines behind the header. The first bad line ends the log if no turn was committed behind it: that is a torn
 * tail, and it is reported. A bad line before a committed turn is corruption, and nothing is guessed.
 */
export function scanEvents(bytes: Buffer, from: number): Scan {
  const events: SessionEvent[] = []
  const allValid = isUtf8(bytes)
  let goodBytes = from
  for (const line of lines(bytes, from)) {
    const why = readLine(bytes, line, events, allValid)
    if (why === undefined) {
      goodBytes = line.end
      continue
    }
    const rest = [...lines(bytes, line.end, line.number)]
    if (rest.some((later) => isTurnEnd(bytes, later))) {
      if (why.kind === 'gap')
        throw corrupt(`seq gap in committed region at line ${line.number} (expected ${events.length}, got ${why.got})`)
      throw corrupt(`corrupt session log: unparsable committed event at line ${line.number}`, why.cause)
    }
    const tail = bytes.subarray(goodBytes)
    const dropped = { line: line.number, bytes: tail.length, lines: rest.length + 1, why: why.text, tail }
    return { events, goodBytes, dropped }
  }
  return { events, goodBytes }
}

type Fault =
  | { readonly kind: 'gap'; readonly got: number; readonly text: string }
  | { readonly kind: 'bad'; readonly text: string; readonly cause?: unknown }

/** Adds the events of one line, or says what is wrong with it and adds none. */
function readLine(bytes: Buffer, line: Line, events: SessionEvent[], allValid: boolean): Fault | undefined {
  if (!line.terminated) return { kind: 'bad', text: 'the last line has no end' }
  if (!allValid && !isUtf8(bytes.subarray(line.start, line.end))) return { kind: 'bad', text: 'it is not UTF-8' }
  const text = bytes.toString('utf8', line.start, line.end - 1)
  if (text.trim() === '') return undefined
  let found: readonly SessionEvent[]
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return { kind: 'bad', text: 'it is not an event' }
    found = expand(value as Record<string, unknown>)
  } catch (cause) {
    return { kind: 'bad', text: cause instanceof Error ? cause.message : String(cause), cause }
  }
  for (let i = 0; i < found.length; i++) {
    const event = found[i] as SessionEvent
    if (!isEnvelope(event)) return { kind: 'bad', text: 'it is not an event' }
    const expected = events.length + i
    if ((event as SessionEvent).seq !== expected)
      return { kind: 'gap', got: (event as SessionEvent).seq, text: `its seq is ${event.seq}, expected ${expected}` }
  }
  for (const event of found) events.push(event)
  return undefined
}

function isTurnEnd(bytes: Buffer, line: Line): boolean {
  const text = bytes.toString('utf8', line.start, line.end)
  if (!text.includes('"turn/end"')) return false
  try {
    const value = JSON.parse(text) as { type?: unknown }
    return value.type === 'turn/end' && isEnvelope(value)
  } catch {
    return false
  }
}

function* lines(bytes: Buffer, from: number, before = 1): Generator<Line> {
  let number = before
  for (let start = from; start < bytes.length; ) {
    const at = bytes.indexOf(newline, start)
    const end = at < 0 ? bytes.length : at + 1
    number++
    yield { number, start, end, terminated: at >= 0 }
    start = end
  }
}

function corrupt(message: string, cause?: unknown) {
  return sessionError('SESSION_LOG_CORRUPT', message, cause)
}
