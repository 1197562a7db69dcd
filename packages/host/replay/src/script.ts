import type { JsonObject } from '@dsh/core'
import { healDeltas, mapStrings, spansOf } from './placeholders.ts'
import type { RecordedEvent, Transcript } from './transcript.ts'

/**
 * What the model says, made to fit the scratch copy: `{{cwd}}`, and the directory that the log was recorded in,
 * become the directory of this run.
 */
export function scriptFor(transcript: Transcript, cwd: string): Transcript {
  const recorded = transcript.header['cwd']
  const place = placePattern(typeof recorded === 'string' ? recorded : undefined)
  const replace = (text: string) => text.replace(place, () => cwd)
  const events = healDeltas(transcript.events, (text) => spansOf(text, place))
  return {
    header: { type: 'session', version: 0, id: 'script', createdAt: 0, ...transcript.header, cwd },
    events: events.map((event) => ({ ...event, data: mapStrings(event.data, replace) as JsonObject })),
  }
}

function placePattern(recorded: string | undefined): RegExp {
  if (recorded === undefined || recorded === '{{cwd}}' || recorded === '/') return /\{\{cwd\}\}/g
  const escaped = recorded.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`\\{\\{cwd\\}\\}|(?<![A-Za-z0-9_.-])${escaped}(?![A-Za-z0-9_-]|\\.[A-Za-z0-9_])`, 'g')
}

/** The calls that the n-th process of a session makes: what lies between two `session/end-seed`. */
export function scriptOfProcess(transcript: Transcript, index: number): Transcript {
  const parts: RecordedEvent[][] = [[]]
  for (const event of transcript.events) {
    if (event.type === 'session/end-seed') parts.push([])
    else parts.at(-1)?.push(event)
  }
  return { header: transcript.header, events: parts[index] ?? [] }
}

/** The log format, events with their own `seq` and `time`, for the row that plays it. */
export function scriptText(transcript: Transcript): string {
  return [transcript.header, ...transcript.events].map((row) => `${JSON.stringify(row)}\n`).join('')
}
