import { sessionError } from './errors.ts'
import { knownTypes } from './known-types.ts'
import type { SessionEvent } from './types.ts'

export const formatVersion = 0

/** Refuses a log of another format version, before anything else of it is interpreted. */
export function guardVersion(id: string, version: unknown, path: string): void {
  if (version === formatVersion || !Number.isInteger(version)) return
  if ((version as number) > formatVersion)
    throw unsupported(
      `session "${id}" uses log format v${String(version)}, but this harness reads only v${formatVersion}: the log was written by a newer harness — upgrade the harness to open it (raw log: ${path})`,
    )
  throw unsupported(
    `session "${id}" uses log format v${String(version)}, older than the supported v${formatVersion}, and this build ships no upgrade path for it (raw log: ${path})`,
  )
}

/** Refuses a type that this program does not know and that its writer did not mark as safe to skip. */
export function guardTypes(id: string, events: readonly SessionEvent[], path: string): void {
  for (const event of events)
    if (!knownTypes.has(event.type) && (event as { ignorable?: true }).ignorable !== true)
      throw unsupported(
        `session "${id}" contains event type "${event.type as string}" (seq ${(event as { seq: number }).seq}) unknown to this harness and not marked ignorable; refusing to interpret the log — it was likely written by a newer harness (raw log: ${path})`,
      )
}

function unsupported(message: string) {
  return sessionError('SESSION_FORMAT_UNSUPPORTED', message)
}
