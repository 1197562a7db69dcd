import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { errorCode } from '@dsh/core'
import { makeDirectories } from './durable-file.ts'
import { storeError } from './errors.ts'
import { lockName } from './paths.ts'

/** Who writes a log. `startedAt` tells a process from a later one that got the same pid. */
export interface LockHolder {
  readonly pid: number
  readonly host: string
  /** Clock ticks since boot where the system tells; absent elsewhere. */
  readonly startedAt?: string
  /** Epoch milliseconds. */
  readonly since: number
}

export interface WriterLock {
  release(): void
}

const held = new Set<string>()

/** Takes the lock of a session's directory, or throws SESSION_LOCKED naming the holder. A dead holder's lock is taken over. */
export function takeLock(dir: string, id: string): WriterLock {
  makeDirectories(dir)
  const path = join(dir, lockName)
  const mine = JSON.stringify(self())
  for (let attempt = 0; attempt < 20; attempt++) {
    if (createExclusively(path, mine)) {
      held.add(path)
      return { release: () => release(path, mine) }
    }
    const found = readLock(path)
    if (found === undefined) continue
    if (isAlive(path, found.holder)) throw lockedBy(id, path, found.holder)
    removeStale(path, found.text)
  }
  throw storeError('SESSION_LOCKED', `session "${id}" is in use: its lock ${path} changes hands too fast to be taken`)
}

/** The live holder of a session's lock, if any. */
export function lockHolder(dir: string): LockHolder | undefined {
  const path = join(dir, lockName)
  if (!fs.existsSync(path)) return undefined
  const found = readLock(path)
  return found !== undefined && isAlive(path, found.holder) ? found.holder : undefined
}

export function refuseLocked(dir: string, id: string): void {
  const holder = lockHolder(dir)
  if (holder !== undefined) throw lockedBy(id, join(dir, lockName), holder)
}

function lockedBy(id: string, path: string, holder: LockHolder) {
  const here = holder.host === hostname()
  const who =
    here && holder.pid === process.pid
      ? 'already open in this process'
      : `in use by another process (pid ${holder.pid}${here ? '' : ` on host ${holder.host}`}, since ${new Date(holder.since).toISOString()})`
  const hint = here
    ? 'End that process first, or go on in a copy: --fork-session'
    : `If that host is gone, remove ${path}; or go on in a copy: --fork-session`
  return storeError('SESSION_LOCKED', `session "${id}" is ${who}`, undefined, hint)
}

function self(): LockHolder {
  const startedAt = startTime(process.pid)
  return { pid: process.pid, host: hostname(), ...(startedAt === undefined ? {} : { startedAt }), since: Date.now() }
}

function isAlive(path: string, holder: LockHolder): boolean {
  if (holder.host !== hostname()) return true
  if (holder.pid === process.pid) return held.has(path)
  if (holder.pid < 1) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false
  }
  const startedAt = startTime(holder.pid)
  return startedAt === undefined || holder.startedAt === undefined || startedAt === holder.startedAt
}

/** Field 22 of Linux' stat line; the name in field 2 may hold spaces and parentheses. A zombie counts as gone. */
function startTime(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : fields[19]
  } catch {
    return undefined
  }
}

function readLock(path: string): { text: string; holder: LockHolder } | undefined {
  let text: string
  try {
    text = fs.readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const holder = JSON.parse(text) as LockHolder
    if (Number.isInteger(holder.pid) && typeof holder.host === 'string') return { text, holder }
  } catch {
    // A lock is linked into place complete; anything else is left of a crash on a file system without links.
  }
  return { text, holder: { pid: 0, host: hostname(), since: 0 } }
}

function createExclusively(path: string, text: string): boolean {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    fs.writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    try {
      fs.linkSync(temporary, path)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false
      fs.writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    }
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

/** Renames before removing, so that of two takers only one removes, and a lock taken in between is put back. */
function removeStale(path: string, seen: string): void {
  const aside = join(dirname(path), `${lockName}.${randomBytes(6).toString('hex')}.stale`)
  try {
    fs.renameSync(path, aside)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  if (fs.readFileSync(aside, 'utf8') !== seen) createExclusively(path, fs.readFileSync(aside, 'utf8'))
  fs.rmSync(aside, { force: true })
}

function release(path: string, mine: string): void {
  held.delete(path)
  try {
    if (fs.readFileSync(path, 'utf8') === mine) fs.rmSync(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}
