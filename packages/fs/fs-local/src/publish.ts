import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, errorText } from '@dsh/core'
import { type FsTarget, type FsVersion, fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import { errnoWords, namedFault } from './errno.ts'
import type { Staging } from './staging.ts'
import type { Syscalls } from './syscalls.ts'
import { versionOf } from './version.ts'

export interface PublishRequest {
  readonly target: FsTarget
  readonly bytes: Uint8Array
  readonly verb: string
  /** The file that is replaced; absent = none was there. */
  readonly old?: BigIntStats
  /** `create` never clobbers; `replace` requires that `old` is still there; `force` takes the name whatever is there. */
  readonly how: 'create' | 'replace' | 'force'
  readonly signal?: AbortSignal
}

/**
 * Gives the target its new content in one step: before it the old file is there, after it the new one, whole.
 * Written and synced beside the target, then renamed over it, or linked where nothing may be overwritten.
 */
export async function publish(request: PublishRequest, io: Syscalls, staging: Staging): Promise<FsVersion> {
  const { target, verb, signal } = request
  const parent = dirname(target.targetKey)
  throwIfAborted(signal, verb)
  try {
    await io.mkdir(parent, { recursive: true })
  } catch (error) {
    throw parentFault(error, verb, target.displayPath)
  }
  await confirmPlace(target, parent, verb, io)
  let stage: Awaited<ReturnType<Staging['create']>>
  try {
    stage = await staging.create(target.targetKey)
  } catch (error) {
    throw namedFault(error, verb, target.displayPath)
  }
  let handle: FileHandle | undefined
  let failure: unknown
  let version: FsVersion | undefined
  try {
    handle = await io.open(stage.file, 'wx', request.old === undefined ? 0o666 : 0o600)
    await handle.writeFile(request.bytes)
    if (request.old !== undefined) await inheritMode(handle, request.old)
    await handle.sync()
    throwIfAborted(signal, verb)
    const made = await take(request, stage.file, parent, io)
    // Committed: from here nothing may fail the call.
    await syncDirectory(parent, io)
    version = made ?? (await versionAfter(handle, target, io))
  } catch (error) {
    failure = error
  }
  await handle?.close().catch((error: unknown) => {
    failure ??= error
  })
  const leftover = await removeStage(stage, io)
  if (version !== undefined) return version
  if (leftover !== undefined && failure !== undefined && !isNamed(failure))
    throw fsError(
      fsErrors.io,
      `write failed (${errnoWords(failure)}) and temp cleanup failed (${errnoWords(leftover)})`,
      { cause: failure },
    )
  throw namedFault(failure, verb, target.displayPath)
}

/** The step that commits. Gives the version where the target is not the staged file itself. */
async function take(
  request: PublishRequest,
  file: string,
  parent: string,
  io: Syscalls,
): Promise<FsVersion | undefined> {
  const { target, verb, how } = request
  await confirmPlace(target, parent, verb, io)
  if (how === 'create') return await linkInto(request, file, io)
  if (how === 'replace') await confirmUnchanged(request, io)
  await io.rename(file, target.targetKey)
  return undefined
}

/** Of the very file that was published, even if somebody has replaced it since. */
async function versionAfter(handle: FileHandle, target: FsTarget, io: Syscalls): Promise<FsVersion> {
  try {
    return versionOf(await handle.stat({ bigint: true }))
  } catch {
    return await io.stat(target.targetKey).then(versionOf, () => `missing:${target.targetKey}`)
  }
}

/** A directory that became a link since the path was resolved would move the file elsewhere. */
async function confirmPlace(target: FsTarget, parent: string, verb: string, io: Syscalls): Promise<void> {
  let real: string
  try {
    real = await io.realpath(parent)
  } catch (error) {
    throw parentFault(error, verb, target.displayPath)
  }
  if (real !== parent) throw changed(target, verb)
}

/** The last look before the rename, for writers that take no lock of ours. */
async function confirmUnchanged(request: PublishRequest, io: Syscalls): Promise<void> {
  const { target, verb, old } = request
  const now = await io.lstat(target.targetKey).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (now === undefined || old === undefined || versionOf(now) !== versionOf(old)) throw changed(target, verb)
}

export function changed(target: FsTarget, verb: string): Error {
  return fsError(fsErrors.stale, `cannot ${verb} "${target.displayPath}": file changed since it was read`)
}

export function mustReadFirst(target: FsTarget): Error {
  return fsError(fsErrors.notObserved, `cannot overwrite existing "${target.displayPath}" without reading it first`)
}

async function linkInto(request: PublishRequest, file: string, io: Syscalls): Promise<FsVersion | undefined> {
  const { target, verb } = request
  try {
    await io.link(file, target.targetKey)
  } catch (error) {
    const there = await io.lstat(target.targetKey).catch(() => undefined)
    if (there?.isFile() || (there === undefined && errorCode(error) === 'EEXIST')) throw mustReadFirst(target)
    if (there !== undefined)
      throw fsError(fsErrors.notRegularFile, `cannot ${verb} "${target.displayPath}": not a regular file`, {
        cause: error,
      })
    if (!noHardLinks.has(errorCode(error) ?? '')) throw error
    return await createExclusively(request, io)
  }
  // The second name goes before the version is taken, which it would change.
  await io.unlink(file).catch(() => undefined)
  return undefined
}

const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'])

/** File systems without hard links: still no clobber, but a reader may see the file grow. */
async function createExclusively(request: PublishRequest, io: Syscalls): Promise<FsVersion> {
  const { target } = request
  let handle: FileHandle
  try {
    handle = await io.open(target.targetKey, 'wx', 0o666)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? mustReadFirst(target) : error
  }
  try {
    await handle.writeFile(request.bytes)
    await handle.sync()
    return versionOf(await handle.stat({ bigint: true }))
  } catch (error) {
    await io.unlink(target.targetKey).catch(() => undefined)
    throw error
  } finally {
    await handle.close().catch(() => undefined)
  }
}

/** Mode bits and, where we may, the owner; set-id bits only when the owner stays. */
async function inheritMode(handle: FileHandle, old: BigIntStats): Promise<void> {
  const mine = await handle.stat({ bigint: true })
  let sameOwner = mine.uid === old.uid && mine.gid === old.gid
  if (!sameOwner) {
    sameOwner = await handle.chown(Number(old.uid), Number(old.gid)).then(
      () => true,
      () => false,
    )
  }
  await handle.chmod(Number(old.mode) & (sameOwner ? 0o7777 : 0o777))
}

/** Best effort: some file systems have no such call. */
async function syncDirectory(dir: string, io: Syscalls): Promise<void> {
  try {
    const handle = await io.open(dir, 'r')
    await handle.sync().finally(() => handle.close())
  } catch {
    // The rename is done and visible; only its survival of a power cut is uncertain.
  }
}

/** The first fault that kept something behind, or undefined. */
async function removeStage(stage: { readonly dir: string; readonly file: string }, io: Syscalls): Promise<unknown> {
  try {
    await io.unlink(stage.file).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
    })
    await io.rmdir(stage.dir)
    return undefined
  } catch (error) {
    return error
  }
}

function isNamed(error: unknown): boolean {
  return errorText(error).startsWith('cannot ') || errorText(error).endsWith(' aborted')
}

function parentFault(error: unknown, verb: string, shown: string): Error {
  const code = errorCode(error)
  if (code === 'ENOENT' || code === 'EEXIST')
    return fsError(fsErrors.notFound, `cannot ${verb} "${shown}": its directory does not exist and cannot be created`, {
      cause: error,
    })
  return namedFault(error, verb, shown)
}
