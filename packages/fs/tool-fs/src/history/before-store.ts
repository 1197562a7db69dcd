import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '@dsh/core'

export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** What files were before they were changed, by content, in a private directory. */
export interface BeforeStore {
  put(bytes: Uint8Array): Promise<string>
  /** undefined = not kept, or no longer there. */
  get(id: string): Promise<Buffer | undefined>
}

/** `elsewhere` = where the sessions that this one was forked from keep theirs. */
export function directoryStore(dir: string, elsewhere: () => Promise<readonly string[]>): BeforeStore {
  return {
    async put(bytes) {
      const id = hashOf(bytes)
      const path = join(dir, fileOf(id))
      await mkdir(dir, { recursive: true, mode: 0o700 })
      const staged = `${path}.${randomBytes(4).toString('hex')}`
      await writeFile(staged, bytes, { mode: 0o600, flag: 'wx' })
      await rename(staged, path)
      return id
    },
    async get(id) {
      for (const place of [dir, ...(await elsewhere())]) {
        const bytes = await readIfThere(join(place, fileOf(id)))
        if (bytes !== undefined && hashOf(bytes) === id) return bytes
      }
      return undefined
    },
  }
}

const memoryMaxBytes = 64 * 1024 * 1024

/** For sessions that leave nothing on disk; the oldest go when it is full. */
export function memoryStore(): BeforeStore {
  const kept = new Map<string, Buffer>()
  let total = 0
  return {
    async put(bytes) {
      const id = hashOf(bytes)
      if (!kept.has(id)) {
        kept.set(id, Buffer.from(bytes))
        total += bytes.length
      }
      for (const [oldest, content] of kept) {
        if (total <= memoryMaxBytes || oldest === id) break
        kept.delete(oldest)
        total -= content.length
      }
      return id
    },
    get: async (id) => kept.get(id),
  }
}

function fileOf(id: string): string {
  return id.replace(/^sha256:/, '').replace(/[^0-9a-f]/g, '_')
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}
