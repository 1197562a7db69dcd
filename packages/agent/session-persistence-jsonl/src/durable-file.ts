import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '@dsh/core'
import { storeError } from './errors.ts'

const sync = promisify(fs.fdatasync)
const noHardLinks: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'])

/** A file that only grows, by whole batches: a batch is on disk, or the file is as it was before. */
export class AppendFile {
  readonly path: string
  private readonly fd: number
  private size: number
  private unsynced = false
  /** Bytes behind `size` may be left of a batch that failed and could not be taken back. */
  private soiled = false

  private constructor(path: string, fd: number, size: number) {
    this.path = path
    this.fd = fd
    this.size = size
  }

  /** Publishes a new file with its first bytes, synced, or throws EEXIST: what exists is never overwritten. */
  static async create(path: string, bytes: Uint8Array): Promise<AppendFile> {
    const made = makeDirectories(dirname(path))
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
    const fd = fs.openSync(temporary, 'ax', 0o600)
    try {
      writeAll(fd, bytes)
      await sync(fd)
      linkOrCopy(temporary, path, bytes)
      syncDirectories([dirname(path), ...made])
    } catch (error) {
      fs.closeSync(fd)
      throw error
    } finally {
      fs.rmSync(temporary, { force: true })
    }
    if (isSameFile(fd, path)) return new AppendFile(path, fd, bytes.length)
    fs.closeSync(fd)
    return AppendFile.open(path, bytes.length)
  }

  /** Opens an existing file whose first `size` bytes are good, and cuts the rest off. */
  static async open(path: string, size: number): Promise<AppendFile> {
    const fd = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_APPEND)
    try {
      if (fs.fstatSync(fd).size > size) {
        fs.ftruncateSync(fd, size)
        await sync(fd)
      }
      return new AppendFile(path, fd, size)
    } catch (error) {
      fs.closeSync(fd)
      throw error
    }
  }

  /** Writes the batch; `sync` makes it durable. On failure the file has its former length again. */
  append(bytes: Uint8Array): void {
    if (this.soiled) this.rollBack()
    try {
      writeAll(this.fd, bytes)
    } catch (error) {
      this.soiled = true
      try {
        this.rollBack()
      } catch (again) {
        throw new AggregateError([error, again], `failed to roll back append to "${this.path}"`)
      }
      throw error
    }
    this.size += bytes.length
    this.unsynced = true
  }

  async sync(): Promise<void> {
    if (this.unsynced) {
      this.unsynced = false
      try {
        await sync(this.fd)
      } catch (error) {
        this.unsynced = true
        throw error
      }
    }
    if (!isSameFile(this.fd, this.path))
      throw storeError('SESSION_LOG_GONE', `the session log ${this.path} was deleted or replaced while it was in use`)
  }

  close(): void {
    fs.closeSync(this.fd)
  }

  private rollBack(): void {
    fs.ftruncateSync(this.fd, this.size)
    fs.fsyncSync(this.fd)
    this.soiled = false
  }
}

function isSameFile(fd: number, path: string): boolean {
  const there = fs.statSync(path, { throwIfNoEntry: false })
  if (there === undefined) return false
  const here = fs.fstatSync(fd)
  return here.ino === there.ino && here.dev === there.dev
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done)
}

/** Hard links publish without overwriting; where a file system has none, an exclusive create does. */
function linkOrCopy(temporary: string, path: string, bytes: Uint8Array): void {
  try {
    fs.linkSync(temporary, path)
  } catch (error) {
    if (!noHardLinks.has(errorCode(error))) throw error
    exclusiveWrite(path, bytes)
  }
}

function exclusiveWrite(path: string, bytes: Uint8Array): void {
  const fd = fs.openSync(path, 'ax', 0o600)
  try {
    writeAll(fd, bytes)
    fs.fsyncSync(fd)
  } catch (error) {
    fs.rmSync(path, { force: true })
    throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** Replaces a file as a whole: the old content or the new one is there, never a mixture. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const fd = fs.openSync(temporary, 'wx', 0o600)
  try {
    try {
      writeAll(fd, bytes)
      await sync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(temporary, path)
    syncDirectories([dirname(path)])
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Creates `path` with all it needs, 0700; gives the directories whose entries changed. One by one, since a recursive
 * `mkdir` calls every failure ENOENT.
 */
export function makeDirectories(path: string): string[] {
  const missing: string[] = []
  for (let at = path; !fs.existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const dir of missing) {
    try {
      fs.mkdirSync(dir, 0o700)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
  return missing.map((dir) => dirname(dir))
}

export function removeIfEmpty(dir: string): void {
  try {
    fs.rmdirSync(dir)
  } catch {
    // Something else is in it, or it is gone.
  }
}

function syncDirectories(paths: readonly string[]): void {
  if (process.platform === 'win32') return
  for (const path of new Set(paths)) {
    const fd = fs.openSync(path, 'r')
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
}
