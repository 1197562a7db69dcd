import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Context } from '@dsh/cordis'
import { type Session, type SessionPersistence, type SessionsService, sessionError } from '@dsh/session'
import { droppedText } from './dropped-text.ts'
import { closedEvents, forkSeed } from './fork-seed.ts'
import { listSessions } from './listing.ts'
import { locateLog } from './locate.ts'
import { continueLog } from './open-log.ts'
import { rawName, sessionDir, zstdName } from './paths.ts'
import { type Encoding, readLog, type StoredLog } from './read-log.ts'
import { deleteLog, requiredLog } from './stored-logs.ts'
import { LogWriter, type OpenedLog } from './writer.ts'
import { takeLock } from './writer-lock.ts'

export interface PersistenceOptions {
  readonly root: string
  /** For new logs; stored ones keep theirs. */
  readonly encoding: Encoding
  readonly packChunks: boolean
  readonly maxDelayMs: number
}

export interface JsonlPersistence extends SessionPersistence {
  /** Every live session on disk, every lock released. */
  close(): Promise<void>
}

export function createPersistence(
  ctx: Context,
  sessions: SessionsService,
  options: PersistenceOptions,
): JsonlPersistence {
  const { root } = options
  const writers = new Map<Session, LogWriter>()
  /** Logs opened by `resume`, until their session is created. */
  const opened = new Map<string, { log: OpenedLog; path: string; encoding: Encoding }>()
  const fileOf = (session: Session) =>
    join(sessionDir(root, session.header), options.encoding === 'zstd' ? zstdName : rawName)

  function writerOf(session: Session): LogWriter | undefined {
    const known = writers.get(session)
    if (known !== undefined || sessions.isEphemeral(session.id) || sessions.get(session.id) !== session) return known
    const from = opened.get(session.id)
    const writer = new LogWriter(
      session,
      {
        path: from?.path ?? fileOf(session),
        encoding: from?.encoding ?? options.encoding,
        packChunks: options.packChunks,
        maxDelayMs: options.maxDelayMs,
        lock: () => takeLock(sessionDir(root, session.header), session.id),
        warn: (message) => ctx.logger.warn(message),
      },
      from?.log,
    )
    writers.set(session, writer)
    opened.delete(session.id)
    return writer
  }

  ctx.on('session/created', (session) => {
    const writer = writerOf(session)
    if (writer !== undefined && session.events.length > 0) writer.noted()
  })
  ctx.on('session/event', (session) => writerOf(session)?.noted())
  ctx.on('session/disposed', async (session) => {
    const writer = writers.get(session)
    writers.delete(session)
    await writer?.close()
  })

  async function readStored(id: string): Promise<StoredLog> {
    return await readLog({ root, path: requiredLog(root, id), id })
  }

  return {
    async flush(session) {
      await writerOf(session)?.flush()
    },

    async resume(id) {
      if (sessions.get(id) !== undefined)
        throw sessionError('SESSION_ALREADY_EXISTS', `cannot prepare session "${id}" while it is live`)
      const lock = takeLock(dirname(requiredLog(root, id)), id)
      try {
        const log = await readStored(id)
        const { file, path, encoding, events, kept } = await continueLog(log)
        if (log.dropped !== undefined)
          ctx.logger.warn(droppedText(id, log.dropped, log.path, kept === undefined ? {} : { kept }))
        opened.set(id, { log: { file, lock, written: events.length }, path, encoding })
        const { type: _type, version: _version, ...header } = log.header
        return sessions.create({ ...header, seed: events })
      } catch (error) {
        opened.get(id)?.log.file.close()
        opened.delete(id)
        lock.release()
        throw error
      }
    },

    async fork(sourceId, { boundary, id } = {}) {
      const live = sessions.get(sourceId)
      const stored = live === undefined ? await readStored(sourceId) : undefined
      const header = live?.header ?? (stored as StoredLog).header
      const all = live?.events ?? closedEvents((stored as StoredLog).events)
      const seed = forkSeed(sourceId, all, boundary)
      const childId = id ?? `session-${randomUUID()}`
      const child = sessions.create({
        id: childId,
        ...(header.cwd === undefined ? {} : { cwd: header.cwd }),
        parentSession: sourceId,
        seedLength: seed.length,
        ...(header.agentPreset === undefined ? {} : { agentPreset: header.agentPreset }),
        seed,
      })
      if (stored?.dropped !== undefined)
        ctx.logger.warn(droppedText(sourceId, stored.dropped, stored.path, { copy: childId }))
      return child
    },

    async inspect(id) {
      const { header, events, dropped } = await readStored(id)
      if (dropped === undefined) return { header, events }
      const problem = `line ${dropped.line} and what follows (${dropped.bytes} bytes) was not read: ${dropped.why}`
      return { header, events, problem }
    },

    list: async (filter) => await listSessions(root, filter),

    async locate(id) {
      const session = sessions.get(id)
      const stored = locateLog(root, id)
      return stored ?? (session === undefined || sessions.isEphemeral(id) ? undefined : fileOf(session))
    },

    pathOf: (header) => join(sessionDir(root, header), options.encoding === 'zstd' ? zstdName : rawName),

    async delete(id) {
      if (sessions.get(id) !== undefined)
        throw sessionError('SESSION_ALREADY_EXISTS', `cannot delete session "${id}" while it is live`)
      deleteLog(root, id)
    },

    async close() {
      const closing = [...writers.values()].map((writer) => writer.close())
      writers.clear()
      const failed = (await Promise.allSettled(closing)).find((result) => result.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}
