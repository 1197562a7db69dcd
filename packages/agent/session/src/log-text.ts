import { sessionError } from './errors.ts'
import { isHeaderLine } from './header.ts'
import { isPackedType, unpack } from './packing.ts'
import type { SessionEvent, SessionHeader } from './types.ts'

export interface ParsedLog {
  /** As written; recorded fixtures may leave fields out. Missing entirely = undefined. */
  readonly header: SessionHeader | undefined
  readonly events: readonly SessionEvent[]
}

/** The events one line stands for: itself, or the deltas of a packed row. */
export function expand(row: Readonly<Record<string, unknown>>): readonly SessionEvent[] {
  return isPackedType(row['type']) ? unpack(row) : [row as unknown as SessionEvent]
}

/**
 * Recorded transcripts: a header line, then events and packed rows. `seq` and `time` may be missing and are then
 * counted up and 0. Throws on the first line that is no JSON object; stored logs go through the tolerant reader.
 */
export function parseLog(text: string): ParsedLog {
  let header: SessionHeader | undefined
  const events: SessionEvent[] = []
  let sawFirst = false
  let number = 0
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    number++
    if (line.trim() === '') continue
    const value = parseLine(line, number)
    if (!sawFirst && isHeaderLine(value)) header = value as unknown as SessionHeader
    else {
      try {
        events.push(...expand(numbered(value, events.length)))
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw sessionError('SESSION_LOG_CORRUPT', `session snapshot line ${number}: ${why}`, error)
      }
    }
    sawFirst = true
  }
  return { header, events }
}

function parseLine(line: string, number: number): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw sessionError('SESSION_LOG_CORRUPT', `session snapshot line ${number} contains invalid JSON`, error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw sessionError('SESSION_LOG_CORRUPT', `session snapshot line ${number} must be a JSON object`)
  return value as Record<string, unknown>
}

/** Puts the numbers that a projected transcript leaves out where a log has them. */
function numbered(row: Record<string, unknown>, seq: number): Record<string, unknown> {
  const { type, data, ...rest } = row
  if (isPackedType(type)) return { type, seq0: row['seq0'] ?? seq, time0: row['time0'] ?? 0, data }
  if (row['seq'] !== undefined && row['time'] !== undefined) return row
  return { type, seq: row['seq'] ?? seq, time: row['time'] ?? 0, data, ...without(rest, ['seq', 'time']) }
}

function without(fields: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))
}
