import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { canonical } from '@dsh/sandbox'

const keptMs = 7 * 24 * 60 * 60 * 1000

/** The directory that stands at /tmp for a session, below `root`. Those that no session used for a week are removed. */
export async function sessionTmp(root: string, sessionId: string): Promise<string> {
  const directory = join(root, sessionId)
  const made = await mkdir(directory, { recursive: true, mode: 0o700 })
  const now = new Date()
  await utimes(directory, now, now)
  if (made !== undefined) await sweep(root, now.getTime() - keptMs)
  return canonical(directory)
}

async function sweep(root: string, before: number): Promise<void> {
  for (const name of await readdir(root)) {
    const directory = join(root, name)
    const { mtimeMs } = await stat(directory).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < before) await rm(directory, { recursive: true, force: true }).catch(() => {})
  }
}
