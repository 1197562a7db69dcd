import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '@dsh/core'
import { fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import { isAlive, type Owner, parseOwner } from './owner.ts'

/** Runs one mutation per file at a time: in this process by a queue, between processes by a lock file. */
export interface Locks {
  with<T>(keys: readonly string[], verb: string, signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T>
}

const waitMs = 10_000
/** A lock file without content is one that is being written; older than this, its writer died. */
const emptyMs = 2_000

/** `dir` absent: no other process is expected to change the same files. */
export function createLocks(owner: Owner, dir: string | undefined): Locks {
  const queues = new Map<string, Promise<void>>()

  async function inOrder<T>(key: string, run: () => Promise<T>): Promise<T> {
    const before = queues.get(key)
    let done = () => {}
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    queues.set(key, mine)
    try {
      await before
      return await run()
    } finally {
      if (queues.get(key) === mine) queues.delete(key)
      done()
    }
  }

  return {
    async with(keys, verb, signal, run) {
      const ordered = [...new Set(keys)].sort()
      const locked = async (index: number): ReturnType<typeof run> => {
        const key = ordered[index]
        if (key === undefined) return await run()
        return await inOrder(key, async () => {
          throwIfAborted(signal, verb)
          const release = dir === undefined ? undefined : await acquire(dir, key, owner, verb, signal)
          try {
            return await locked(index + 1)
          } finally {
            release?.()
          }
        })
      }
      return await locked(0)
    },
  }
}

async function acquire(
  dir: string,
  key: string,
  owner: Owner,
  verb: string,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  if (!isWritable(dir)) return () => {}
  const file = join(dir, createHash('sha256').update(key).digest('hex').slice(0, 32))
  const until = Date.now() + waitMs
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    const made = tryCreate(file, owner.text)
    if (made === undefined) return () => {}
    if (made) return () => removeQuietly(file)
    takeOverIfDead(file)
    if (Date.now() > until)
      throw fsError(fsErrors.io, `cannot ${verb} "${key}": another process is still changing this file`)
    await sleep(pause)
    throwIfAborted(signal, verb)
  }
}

/** A home that cannot be written to takes no locks; then the queue of this process has to do. */
function isWritable(dir: string): boolean {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** undefined = there is no room for a lock: a full disk fails the write itself, with its own words. */
function tryCreate(file: string, text: string): boolean | undefined {
  try {
    const fd = openSync(file, 'wx', 0o600)
    try {
      writeSync(fd, text)
    } catch {
      removeQuietly(file)
      return undefined
    } finally {
      closeSync(fd)
    }
    return true
  } catch (error) {
    return errorCode(error) === 'EEXIST' ? false : undefined
  }
}

/** Only the holder of `<file>.break` may remove a dead lock, so that nobody removes the one made after it. */
function takeOverIfDead(file: string): void {
  if (!isDead(file)) return
  const breaker = `${file}.break`
  if (tryCreate(breaker, '') !== true) {
    if (olderThan(breaker, waitMs)) removeQuietly(breaker)
    return
  }
  try {
    if (isDead(file)) renameSync(file, `${file}.dead`)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  } finally {
    removeQuietly(`${file}.dead`)
    removeQuietly(breaker)
  }
}

function isDead(file: string): boolean {
  try {
    const holder = parseOwner(readFileSync(file, 'utf8'))
    return holder === undefined ? olderThan(file, emptyMs) : !isAlive(holder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

function olderThan(file: string, ms: number): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs > ms
  } catch {
    return false
  }
}

function removeQuietly(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Somebody else removed it: just as well.
  }
}
