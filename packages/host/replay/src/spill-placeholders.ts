import type { JsonObject } from '@dsh/core'
import { locatorPattern } from './normalise.ts'
import { healDeltas, mapStrings, spansOf } from './placeholders.ts'
import { chunkOf, type RecordedEvent, type Transcript } from './transcript.ts'

/**
 * A model that reads a spilled result names a file that only its own run has. Those calls of a recording become
 * patches of a `replay.override.json`: each such path is then taken from what the request says.
 */
export function spillPatches(transcript: Transcript): object[] {
  return callsOf(transcript).flatMap((events, at) => {
    const healed = healDeltas(events, (text) => spansOf(text, locatorPattern))
    const chunks = healed.map((event) => mapStrings(chunkOf(event), withPlaceholders) as JsonObject)
    const changed = JSON.stringify(chunks) !== JSON.stringify(healed.map(chunkOf))
    return changed ? [{ at, entry: { kind: 'chunks', chunks } }] : []
  })
}

/** The chunk events of each call, in the order in which the replaying row counts them. */
function callsOf({ events }: Transcript): RecordedEvent[][] {
  const calls: RecordedEvent[][] = []
  let open: RecordedEvent[] = []
  for (const event of events) {
    if (event.type === 'compaction/summary' && event.data['llmStreamCall'] === true) calls.push([])
    if (event.type !== 'assistant/chunk') continue
    open.push(event)
    if (chunkOf(event)['type'] !== 'finish') continue
    calls.push(open)
    open = []
  }
  return calls
}

/** No backslash in the pattern: it stands inside a JSON string inside a JSON string. */
function withPlaceholders(text: string): string {
  return text.replace(locatorPattern, (found) => {
    const name = found.slice(found.lastIndexOf('/') + 1)
    const shape = name.replace(/[0-9a-f]{6,}|\d+/g, '[0-9a-f]+').replaceAll('.', '[.]')
    return `{{fromRequest:([^ ]*/${shape})}}`
  })
}
