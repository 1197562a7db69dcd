import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SavedText, SaveText } from './types.ts'

const maxAgeMs = 7 * 24 * 3_600_000
const sessionDir = /^session-[0-9a-f]{12}$/

export const retrievalHint = 'Use read with offset/limit, or grep this path to search within it.'

/** Private files below `root`, one directory a session. */
export class FileSpillStore {
  private readonly own = new Set<string>()
  private readonly root: string

  constructor(root: string) {
    this.root = root
  }

  async save({ owner, suggestedName, content }: SaveText): Promise<SavedText> {
    const dir = join(this.root, `session-${createHash('sha256').update(owner.sessionId).digest('hex').slice(0, 12)}`)
    const locator = join(dir, `${randomBytes(6).toString('hex')}-${encodeName(suggestedName)}`)
    await mkdir(dir, { recursive: true, mode: 0o700 })
    this.own.add(dir)
    await writeFile(locator, content, { flag: 'wx', mode: 0o600 })
    return { locator, bytes: Buffer.byteLength(content), retrievalHint }
  }

  /** The sessions of this run. */
  async removeOwn(): Promise<void> {
    await Promise.all([...this.own].map((dir) => rm(dir, { recursive: true, force: true })))
    this.own.clear()
  }

  /** Sessions that nobody has written to for seven days. */
  async removeOld(now = Date.now()): Promise<void> {
    for (const name of await readdir(this.root).catch(() => [])) {
      const dir = join(this.root, name)
      if (!sessionDir.test(name) || this.own.has(dir)) continue
      const info = await stat(dir).catch(() => undefined)
      if (info !== undefined && now - info.mtimeMs > maxAgeMs) await rm(dir, { recursive: true, force: true })
    }
  }
}

/** Keeps plain characters; every other one becomes `~` and its code unit, so that no name leaves its directory. */
export function encodeName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
