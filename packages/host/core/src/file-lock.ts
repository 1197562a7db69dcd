import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DshError, errorCode } from './errors.ts'
import { makeDirectory } from './make-directory.ts'

/** A lock file that is still empty after this long was left by a crash. */
const UNWRITTEN_MS = 10_000

export interface FileLockOptions {
  /** How long to wait for another holder. */
  readonly waitMs: number
}

/** Runs `work` while no other process holds `<file>.lock`. The lock of a process that is gone is taken over. */
export async function withFileLock<T>(file: string, options: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  await makeDirectory(dirname(lock))
  const deadline = Date.now() + options.waitMs
  for (let pause = 20; !(await acquire(lock)); pause = Math.min(200, pause * 2)) {
    const stale = await staleText(lock)
    if (stale !== undefined && (await takeAway(lock, stale))) continue
    if (Date.now() >= deadline) throw new DshError('FILE_LOCKED', `another process is writing ${file} (${lock})`)
    await delay(pause)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function acquire(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600)
    await handle.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }))
    await handle.close()
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** The content of a lock whose holder, on this machine, does not run any more or never came to write its name. */
async function staleText(lock: string): Promise<string | undefined> {
  try {
    const text = await readFile(lock, 'utf8')
    if (text === '') return Date.now() - (await stat(lock)).mtimeMs > UNWRITTEN_MS ? text : undefined
    const holder = JSON.parse(text) as { pid?: unknown; host?: unknown }
    if (holder.host !== hostname() || typeof holder.pid !== 'number') return undefined
    return isGone(holder.pid) ? text : undefined
  } catch {
    return undefined
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
  }
}

/** Moves the stale lock aside before removing it, and puts it back if somebody else took it over meanwhile. */
async function takeAway(lock: string, text: string): Promise<boolean> {
  const aside = `${lock}.${randomBytes(4).toString('hex')}`
  try {
    await rename(lock, aside)
    const same = (await readFile(aside, 'utf8')) === text
    if (!same) await link(aside, lock)
    await rm(aside, { force: true })
    return same
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    throw error
  }
}
