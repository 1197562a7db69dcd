import { createHash, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '@dsh/core'
import { attachmentError } from './errors.ts'

const idPattern = /^sha256:([0-9a-f]{64})$/

/** Files named by the hash of their content, private to the user, never overwritten and never deleted. */
export class ObjectStore {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  pathOf(id: string): string {
    const hex = idPattern.exec(id)?.[1]
    if (hex === undefined) throw attachmentError('ATTACHMENT_INVALID')
    return join(this.root, 'objects', hex.slice(0, 2), hex)
  }

  /** Gives the id. On disk, with its directory entry, when it resolves. */
  async put(bytes: Uint8Array): Promise<string> {
    const id = `sha256:${hashOf(bytes)}`
    const path = this.pathOf(id)
    const bucket = join(path, '..')
    const staged = join(this.root, 'tmp', randomUUID())
    try {
      for (const dir of [this.root, join(this.root, 'objects'), join(this.root, 'tmp'), bucket]) await privateDir(dir)
      const handle = await open(staged, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await this.publish(staged, path, id)
      await syncDir(bucket)
      await syncDir(join(this.root, 'objects'))
      return id
    } catch (error) {
      throw attachmentError('ATTACHMENT_WRITE_FAILED', { cause: error })
    } finally {
      await unlink(staged).catch(() => undefined)
    }
  }

  async get(id: string): Promise<Buffer> {
    const path = this.pathOf(id)
    let bytes: Buffer
    try {
      bytes = await readFile(path)
    } catch (error) {
      throw attachmentError(errorCode(error) === 'ENOENT' ? 'ATTACHMENT_MISSING' : 'ATTACHMENT_READ_FAILED', {
        cause: error,
      })
    }
    if (`sha256:${hashOf(bytes)}` !== id) throw attachmentError('ATTACHMENT_CORRUPT')
    return bytes
  }

  private async publish(staged: string, path: string, id: string): Promise<void> {
    try {
      await link(staged, path)
      return
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') {
        // No hard links here: a rename gives the same file the same name.
        await rename(staged, path)
        return
      }
    }
    const there = await readFile(path)
    // Damaged since it was stored: the good copy takes its place.
    if (`sha256:${hashOf(there)}` !== id) await rename(staged, path)
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function privateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
}

/** Best effort: not every file system can. */
async function syncDir(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    await handle.sync().finally(() => handle.close())
  } catch {
    // The object is there; only its survival of a power cut is uncertain.
  }
}
