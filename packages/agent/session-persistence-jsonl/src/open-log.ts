import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { interruptedTurnClosers, pack, type SessionEvent } from '@dsh/session'
import { AppendFile, replaceFile } from './durable-file.ts'
import { rawName } from './paths.ts'
import type { StoredLog } from './read-log.ts'
import { canWriteZstd, compressFrame } from './zstd.ts'

export interface ContinuedLog {
  readonly file: AppendFile
  readonly path: string
  readonly encoding: StoredLog['encoding']
  /** With the closers of an interrupted turn, which are on disk by now. */
  readonly events: readonly SessionEvent[]
  /** Where a cut tail was kept; half a line is not. */
  readonly kept?: string
  /** Writes further events; `file.sync` makes them durable. */
  append(events: readonly SessionEvent[]): void
}

/**
 * Makes a stored log ready to be appended to: cuts a torn tail off (what held whole lines is kept beside the log),
 * brings salvaged events and closers to disk, and turns a compressed log into a plain one where this runtime cannot
 * compress. The caller holds the writer lock.
 */
export async function continueLog(log: StoredLog): Promise<ContinuedLog> {
  const closers = interruptedTurnClosers(log.events)
  const events = [...log.events, ...closers]
  const kept = keepTail(log)
  if (log.encoding === 'zstd' && !canWriteZstd())
    return { ...(await toPlain(log, events)), ...(kept === undefined ? {} : { kept }) }
  const file = await AppendFile.open(log.path, log.goodBytes)
  try {
    const behind = log.events.length - log.salvaged
    const append = (more: readonly SessionEvent[]) => {
      const bytes = storedLines(more)
      file.append(log.encoding === 'zstd' ? compressFrame(bytes) : bytes)
    }
    if (events.length > behind) {
      append(events.slice(behind))
      await file.sync()
    }
    return { file, path: log.path, encoding: log.encoding, events, append, ...(kept === undefined ? {} : { kept }) }
  } catch (error) {
    file.close()
    throw error
  }
}

export function storedLines(events: readonly SessionEvent[]): Buffer {
  return Buffer.from(
    pack(events)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
  )
}

async function toPlain(log: StoredLog, events: readonly SessionEvent[]): Promise<ContinuedLog> {
  const path = join(dirname(log.path), rawName)
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(log.header)}\n`), storedLines(events)])
  await replaceFile(path, bytes)
  fs.renameSync(log.path, `${log.path}.bak`)
  const file = await AppendFile.open(path, bytes.length)
  return { file, path, encoding: 'jsonl', events, append: (more) => file.append(storedLines(more)) }
}

/** One half-written line is worth nothing; a whole one may be, so it is not thrown away. */
function keepTail({ dropped, path }: StoredLog): string | undefined {
  if (dropped === undefined || !dropped.tail.includes(0x0a)) return undefined
  const kept = join(dirname(path), `torn-${Date.now()}.jsonl`)
  fs.writeFileSync(kept, dropped.tail, { mode: 0o600 })
  return kept
}
