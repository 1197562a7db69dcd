import { basename, dirname } from 'node:path'
import { errorCode } from '@dsh/core'
import { type FsDeleteOutcome, type FsTarget, type FsVersion, throwIfAborted } from '@dsh/fs'
import { type Backend, basisText } from './backend.ts'
import { type Current, examine, isFresh } from './current.ts'
import { namedFault } from './errno.ts'
import { pinDirectory } from './pinned-directory.ts'
import { changed } from './publish.ts'
import type { Syscalls } from './syscalls.ts'
import { versionOf } from './version.ts'

export async function removeFile(
  target: FsTarget,
  expected: { readonly version: FsVersion } | undefined,
  backend: Backend,
  signal?: AbortSignal,
): Promise<FsDeleteOutcome> {
  const { io, locks, seen, diffBasisMaxBytes } = backend
  return await locks.with([target.targetKey], 'delete', signal, async () => {
    const readUpTo = diffBasisMaxBytes - 1
    const old = await examine({ target, verb: 'delete', readUpTo, expected: expected?.version, signal }, io, seen)
    if (old === undefined || (expected !== undefined && !isFresh(target, expected.version, old, seen)))
      throw changed(target, 'delete')
    await unlinkUnchanged(target, old, 'delete', io, signal)
    return {
      before: old.bytes === undefined ? null : basisText(old.bytes, diffBasisMaxBytes),
      bytes: old.bytes === undefined ? {} : { before: old.bytes },
    }
  })
}

/** The last look and the unlink happen in one pinned directory. */
export async function unlinkUnchanged(
  target: FsTarget,
  old: Current,
  verb: string,
  io: Syscalls,
  signal: AbortSignal | undefined,
): Promise<void> {
  throwIfAborted(signal, verb)
  try {
    const path = dirname(target.targetKey)
    const parent = await pinDirectory(path, io)
    try {
      const name = parent.at(basename(target.targetKey))
      if ((await parent.place()) !== path) throw changed(target, verb)
      if (versionOf(await io.lstat(name)) !== old.version) throw changed(target, verb)
      await io.unlink(name)
    } finally {
      await parent.close().catch(() => undefined)
    }
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw changed(target, verb)
    throw namedFault(error, verb, target.displayPath)
  }
}
