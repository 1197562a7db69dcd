import type { JsonObject } from '@dsh/core'
import { pack, parseLog, type SessionEvent } from '@dsh/session'

/** One event of a recorded log as plain data: a recording may hold types that this program does not know. */
export interface RecordedEvent {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data: JsonObject
  readonly sourceEventSeqs?: readonly number[]
  readonly surfaceOp?: 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number }
  readonly ignorable?: true
}

export interface Transcript {
  /** The log's first line; recordings may leave fields out. */
  readonly header: JsonObject
  /** Packed rows expanded; `seq` counts from 0 where the file leaves it out. */
  readonly events: readonly RecordedEvent[]
}

/** Reads a whole log or a fixture. Throws with the number of the broken line. */
export function parseTranscript(text: string): Transcript {
  const { header, events } = parseLog(text)
  return {
    header: (header ?? {}) as unknown as JsonObject,
    events: events as unknown as readonly RecordedEvent[],
  }
}

/** The fixture form: no `seq`, no `time`; runs of deltas packed the same way whatever the flush cadence was. */
export function projectTranscript({ header, events }: Transcript): string {
  const rows = pack(events as unknown as readonly SessionEvent[]) as readonly object[]
  const lines = rows.map((row) => {
    const { seq, time, seq0, time0, ...rest } = row as Record<string, unknown>
    return rest
  })
  return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function chunkOf(event: RecordedEvent): JsonObject {
  return event.data['chunk'] as JsonObject
}
