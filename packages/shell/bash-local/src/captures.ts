import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const maxAgeMs = 7 * 24 * 3_600_000

/** This process's own directory of capture files below the home; it exists once something is captured. */
export function captureDirectory(root: string): {
  readonly dir: string
  /** Removes what dead processes left behind more than seven days ago. */
  sweepOld(now?: number): Promise<void>
  remove(): Promise<void>
} {
  const dir = join(root, `${process.pid}-${randomBytes(4).toString('hex')}`)
  return {
    dir,
    sweepOld: async (now = Date.now()) => {
      for (const entry of await readdir(root).catch(() => [])) {
        const path = join(root, entry)
        const info = await stat(path).catch(() => undefined)
        if (info !== undefined && now - info.mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true })
      }
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}
