import { constants } from 'node:buffer'
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { errorCode } from '@dsh/core'
import { type FsTarget, type FsVersion, throwIfAborted } from '@dsh/fs'
import { namedFault } from './errno.ts'
import { hashMaxBytes, notRegular, openRegular, readAll, tooLarge } from './read.ts'
import type { Syscalls } from './syscalls.ts'
import { contentHash, type SeenContents, versionOf } from './version.ts'

/** Editing needs the file twice in memory. */
const editMaxBytes = Math.min(256 * 1024 * 1024, constants.MAX_STRING_LENGTH)

/** The file as it is under the lock. */
export interface Current {
  readonly stat: BigIntStats
  readonly version: FsVersion
  /** Absent: not asked for, or over the limit. */
  readonly bytes?: Buffer
}

export interface CurrentRequest {
  readonly target: FsTarget
  readonly verb: string
  /** Read the content when it is at most this long. */
  readonly readUpTo: number
  /** The version it has to have; then small contents are read for their hash too. */
  readonly expected?: FsVersion
  readonly signal?: AbortSignal
}

/** undefined = there is no such file. Anything but a regular file is refused. */
export async function examine(request: CurrentRequest, io: Syscalls, seen: SeenContents): Promise<Current | undefined> {
  const { target, verb, signal } = request
  throwIfAborted(signal, verb)
  let stat: BigIntStats
  try {
    // lstat: the key of a dangling link is the link itself, and that is something, not nothing.
    stat = await io.lstat(target.targetKey)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw namedFault(error, verb, target.displayPath)
  }
  if (!stat.isFile()) throw notRegular(target, verb, stat.isDirectory())
  const forHash = request.expected !== undefined && seen.hashOf(target.targetKey, request.expected) !== undefined
  const limit = forHash ? Math.max(request.readUpTo, hashMaxBytes) : request.readUpTo
  if (limit < 0 || stat.size > BigInt(limit)) return { stat, version: versionOf(stat) }
  return await readCurrent(request, limit, io)
}

async function readCurrent(request: CurrentRequest, limit: number, io: Syscalls): Promise<Current> {
  const { target, verb, signal } = request
  const handle: FileHandle = await openRegular(target, verb, io)
  try {
    const stat = await handle.stat({ bigint: true })
    const bytes = await readAll(handle, Number(stat.size), limit, signal, verb)
    const after = await handle.stat({ bigint: true })
    // Grew or moved while it was read: what we hold is no version of it.
    const steady = versionOf(after) === versionOf(stat) && bytes?.length === Number(stat.size)
    return { stat: after, version: versionOf(after), ...(steady && bytes !== undefined ? { bytes } : {}) }
  } catch (error) {
    throw namedFault(error, verb, target.displayPath)
  } finally {
    await handle.close().catch(() => undefined)
  }
}

/** Whether `current` is what was seen as `expected`: by content where its hash is known, else by version. */
export function isFresh(target: FsTarget, expected: FsVersion, current: Current, seen: SeenContents): boolean {
  const hash = seen.hashOf(target.targetKey, expected)
  if (hash === undefined || current.bytes === undefined) return current.version === expected
  return contentHash(current.bytes) === hash
}

/** The content for an edit, whole. */
export async function examineText(
  request: Omit<CurrentRequest, 'readUpTo'>,
  io: Syscalls,
  seen: SeenContents,
): Promise<Current | undefined> {
  const current = await examine({ ...request, readUpTo: editMaxBytes }, io, seen)
  if (current !== undefined && current.bytes === undefined && current.stat.size > BigInt(editMaxBytes))
    throw tooLarge(request.target, request.verb, Number(current.stat.size), editMaxBytes)
  return current
}
