import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { makeHeader, sessionError } from '@dsh/session'
import { droppedText } from './dropped-text.ts'
import { AppendFile, removeIfEmpty } from './durable-file.ts'
import { closedEvents, forkSeed } from './fork-seed.ts'
import { locateLog } from './locate.ts'
import { continueLog, storedLines } from './open-log.ts'
import { rawName, sessionDir } from './paths.ts'
import { readLog } from './read-log.ts'
import { refuseLocked, takeLock } from './writer-lock.ts'

/** What can be done to stored logs without a host. */

export function requiredLog(root: string, id: string): string {
  const path = locateLog(root, id)
  if (path === undefined) throw sessionError('SESSION_NOT_FOUND', `session "${id}" not found`)
  return path
}

/** Removes the log and everything beside it. Refuses while somebody writes it. */
export function deleteLog(root: string, id: string): void {
  const dir = dirname(requiredLog(root, id))
  refuseLocked(dir, id)
  fs.rmSync(dir, { recursive: true, force: true })
  removeIfEmpty(dirname(dir))
}

/** A new stored session with the events up to `boundary`; the original is only read. */
export async function forkLog(
  root: string,
  id: string,
  options: { readonly boundary?: number; readonly id?: string } = {},
): Promise<{ readonly id: string; readonly path: string; readonly seedLength: number; readonly warning?: string }> {
  const { header, events, dropped, path: source } = await readLog({ root, path: requiredLog(root, id), id })
  const seed = forkSeed(id, closedEvents(events), options.boundary)
  const childId = options.id ?? `session-${randomUUID()}`
  if (locateLog(root, childId) !== undefined)
    throw sessionError('SESSION_ALREADY_EXISTS', `session "${childId}" already exists`)
  const child = makeHeader(childId, Date.now(), {
    ...(header.cwd === undefined ? {} : { cwd: header.cwd }),
    parentSession: id,
    seedLength: seed.length,
    ...(header.agentPreset === undefined ? {} : { agentPreset: header.agentPreset }),
  })
  const path = join(sessionDir(root, child), rawName)
  const file = await AppendFile.create(
    path,
    Buffer.concat([Buffer.from(`${JSON.stringify(child)}\n`), storedLines(seed)]),
  )
  file.close()
  const warning = dropped === undefined ? {} : { warning: droppedText(id, dropped, source, { copy: childId }) }
  return { id: childId, path, seedLength: seed.length, ...warning }
}

/** Appends a title that a person chose. Gives a line about a torn tail that had to go. */
export async function renameLog(root: string, id: string, title: string): Promise<string | undefined> {
  const path = requiredLog(root, id)
  const lock = takeLock(dirname(path), id)
  try {
    const log = await readLog({ root, path, id })
    const opened = await continueLog(log)
    try {
      const data = { title, messageSeqs: [], source: { kind: 'user' } }
      opened.append([{ type: 'session/title', seq: opened.events.length, time: Date.now(), data }])
      await opened.file.sync()
    } finally {
      opened.file.close()
    }
    const { dropped } = log
    const how = opened.kept === undefined ? {} : { kept: opened.kept }
    return dropped === undefined ? undefined : droppedText(id, dropped, path, how)
  } finally {
    lock.release()
  }
}
