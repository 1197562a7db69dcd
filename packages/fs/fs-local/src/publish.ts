import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errorCode, errorText, makeDirectory } from '@dsh/core'
import { type FsTarget, type FsVersion, fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import { errnoWords, namedFault } from './errno.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'
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
  const parentPath = dirname(target.targetKey)
  throwIfAborted(signal, verb)
  const parent = await pinParent(target, parentPath, verb, io)
  try {
    return await publishIn(parent, parentPath, request, io, staging)
  } finally {
    await parent.close().catch(() => undefined)
  }
}

/** The target's directory, made where it is missing. */
async function pinParent(target: FsTarget, path: string, verb: string, io: Syscalls): Promise<PinnedDirectory> {
  try {
    await makeDirectory(path, undefined, (each, options) => io.mkdir(each, options))
  } catch (error) {
    throw parentFault(error, verb, target.displayPath)
  }
  const parent = await pinDirectory(path, io).catch((error: unknown) => {
    const code = errorCode(error)
    throw code === 'ELOOP' || code === 'ENOTDIR' ? changed(target, verb) : parentFault(error, verb, target.displayPath)
  })
  try {
    await confirmPlace(target, parent, path, verb)
    return parent
  } catch (error) {
    await parent.close().catch(() => undefined)
    throw error
  }
}

async function publishIn(
  parent: PinnedDirectory,
  parentPath: string,
  request: PublishRequest,
  io: Syscalls,
  staging: Staging,
): Promise<FsVersion> {
  const { target, verb, signal } = request
  let stage: Awaited<ReturnType<Staging['create']>>
  try {
    stage = await staging.create(parent, parentPath)
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
    const made = await take(request, stage.file, parent, parentPath, io)
    // Committed: from here nothing may fail the call. Where directories cannot be synced only surviving a power cut is uncertain.
    await parent.sync().catch(() => undefined)
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
  parent: PinnedDirectory,
  parentPath: string,
  io: Syscalls,
): Promise<FsVersion | undefined> {
  const { target, verb, how } = request
  const destination = parent.at(basename(target.targetKey))
  await confirmPlace(target, parent, parentPath, verb)
  if (how === 'create') return await linkInto(request, file, destination, io)
  if (how === 'replace') await confirmUnchanged(request, destination, io)
  await io.rename(file, destination)
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

/** A directory that is elsewhere by now than where the target was resolved to. */
async function confirmPlace(target: FsTarget, parent: PinnedDirectory, path: string, verb: string): Promise<void> {
  let place: string
  try {
    place = await parent.place()
  } catch (error) {
    throw parentFault(error, verb, target.displayPath)
  }
  if (place !== path) throw changed(target, verb)
}

/** The last look before the rename, for writers that take no lock of ours. */
async function confirmUnchanged(request: PublishRequest, destination: string, io: Syscalls): Promise<void> {
  const { target, verb, old } = request
  const now = await io.lstat(destination).catch((error: unknown) => {
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

async function linkInto(
  request: PublishRequest,
  file: string,
  destination: string,
  io: Syscalls,
): Promise<FsVersion | undefined> {
  const { target, verb } = request
  try {
    await io.link(file, destination)
  } catch (error) {
    const there = await io.lstat(destination).catch(() => undefined)
    if (there?.isFile() || (there === undefined && errorCode(error) === 'EEXIST')) throw mustReadFirst(target)
    if (there !== undefined)
      throw fsError(fsErrors.notRegularFile, `cannot ${verb} "${target.displayPath}": not a regular file`, {
        cause: error,
      })
    if (!noHardLinks.has(errorCode(error) ?? '')) throw error
    return await createExclusively(request, destination, io)
  }
  // The second name goes before the version is taken, which it would change.
  await io.unlink(file).catch(() => undefined)
  return undefined
}

const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'])

/** File systems without hard links: still no clobber, but a reader may see the file grow. */
async function createExclusively(request: PublishRequest, destination: string, io: Syscalls): Promise<FsVersion> {
  const { target } = request
  let handle: FileHandle
  try {
    handle = await io.open(destination, 'wx', 0o666)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? mustReadFirst(target) : error
  }
  try {
    await handle.writeFile(request.bytes)
    await handle.sync()
    return versionOf(await handle.stat({ bigint: true }))
  } catch (error) {
    await io.unlink(destination).catch(() => undefined)
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
