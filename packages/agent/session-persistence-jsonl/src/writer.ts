import { dirname } from 'node:path'
import { isDshError } from '@dsh/core'
import { openRunStart, type PackedRow, pack, type Session, type SessionEvent } from '@dsh/session'
import { AppendFile, removeIfEmpty } from './durable-file.ts'
import { storeError, writeFailure } from './errors.ts'
import type { Encoding } from './read-log.ts'
import type { WriterLock } from './writer-lock.ts'
import { compressFrame } from './zstd.ts'

export interface WriterOptions {
  readonly path: string
  readonly encoding: Encoding
  readonly packChunks: boolean
  /** From the first unwritten event to the write in the background. */
  readonly maxDelayMs: number
  /** Takes the session's lock; called before the file is created. */
  readonly lock: () => WriterLock
  readonly warn: (message: string) => void
}

/** An opened log: the file, its lock, and how many of the session's events it holds. */
export interface OpenedLog {
  readonly file: AppendFile
  readonly lock: WriterLock
  readonly written: number
}

const pins: ReadonlySet<string> = new Set(['permission/preset', 'sandbox/mode', 'approval/policy', 'session/cwd'])

/**
 * Brings one session's events to its file. In the background they reach the file within `maxDelayMs`, except the run
 * of deltas at the end, which waits for its block to end so that it is stored as one row. `flush` writes everything
 * and makes it durable, once the session has
 * content; calls that overlap share one write.
 */
export class LogWriter {
  private readonly session: Session
  private readonly options: WriterOptions
  private file: AppendFile | undefined
  private lock: WriterLock | undefined
  private written: number
  private synced: number
  private timer: NodeJS.Timeout | undefined
  private active: Promise<void> = Promise.resolve()
  private queued: Promise<void> | undefined
  private closed = false

  constructor(session: Session, options: WriterOptions, opened?: OpenedLog) {
    this.session = session
    this.options = options
    this.file = opened?.file
    this.lock = opened?.lock
    this.written = this.synced = opened?.written ?? 0
  }

  /** An event was appended. */
  noted(): void {
    if (this.timer !== undefined || this.closed || !this.hasContent()) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.inBackground()
    }, this.options.maxDelayMs)
    this.timer.unref()
  }

  /** A barrier: what was appended before the call is on disk when it resolves. */
  flush(): Promise<void> {
    if (this.closed) return Promise.reject(storeError('SESSION_STORE', `session "${this.session.id}" is closed`))
    this.queued ??= this.enqueue(async () => {
      this.queued = undefined
      if (this.hasContent()) await this.write(this.session.events.length, true)
    })
    return this.queued
  }

  async close(): Promise<void> {
    if (this.closed) return
    clearTimeout(this.timer)
    try {
      await this.flush()
    } finally {
      this.closed = true
      this.file?.close()
      this.lock?.release()
      // A session that never got its file leaves no directory either.
      if (this.file === undefined && this.lock !== undefined) removeIfEmpty(dirname(this.options.path))
    }
  }

  /** A session that nobody said anything in leaves no log: what rows pinned at its start is no reason for a file. */
  private hasContent(): boolean {
    return this.written > 0 || this.session.events.some((event) => !pins.has(event.type))
  }

  private inBackground(): void {
    const unwritten = this.session.events.slice(this.written)
    const end = this.written + (this.options.packChunks ? openRunStart(unwritten) : unwritten.length)
    if (end === this.written) return
    this.enqueue(() => this.write(end, false)).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      this.options.warn(`background write for session "${this.session.id}" failed (buffered events retained): ${why}`)
    })
  }

  private enqueue(job: () => Promise<void>): Promise<void> {
    const next = this.active.then(job)
    this.active = next.catch(() => {})
    return next
  }

  private async write(end: number, durable: boolean): Promise<void> {
    if (end <= this.written && !(durable && this.synced < this.written)) return
    try {
      const events = this.session.events.slice(this.written, Math.max(end, this.written))
      if (this.file === undefined) await this.create(events)
      else if (events.length > 0) this.file.append(this.encode(this.lines(events)))
      this.written += events.length
      if (!durable) return
      const target = this.written
      await this.file?.sync()
      this.synced = target
    } catch (error) {
      throw isDshError(error) ? error : writeFailure(this.session.id, this.options.path, error)
    }
  }

  private async create(events: readonly SessionEvent[]): Promise<void> {
    this.lock ??= this.options.lock()
    const header = Buffer.from(`${JSON.stringify(this.session.header)}\n`)
    const body = this.lines(events)
    const parts = this.options.encoding === 'zstd' && body.length > 0 ? [header, body] : [Buffer.concat([header, body])]
    try {
      this.file = await AppendFile.create(this.options.path, Buffer.concat(parts.map((part) => this.encode(part))))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw storeError(
        'SESSION_STORE',
        `session "${this.session.id}" already has a persisted log on disk; load/resume it instead of creating`,
        error,
      )
    }
  }

  private lines(events: readonly SessionEvent[]): Buffer {
    const rows: readonly (SessionEvent | PackedRow)[] = this.options.packChunks ? pack(events) : events
    return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }

  private encode(bytes: Buffer): Buffer {
    return this.options.encoding === 'zstd' ? compressFrame(bytes) : bytes
  }
}
