import { join } from 'node:path'
import { errorCode } from '@dsh/core'
import { type FsDirEntry, type FsTarget, fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import { errnoWords } from './errno.ts'
import type { Syscalls } from './syscalls.ts'
import { versionOf } from './version.ts'

/** One level, in code-point order, never opening a file. A child that cannot be examined fails the listing. */
export async function listDirectory(
  target: FsTarget,
  io: Syscalls,
  signal?: AbortSignal,
): Promise<readonly FsDirEntry[]> {
  throwIfAborted(signal, 'list')
  let names: string[]
  try {
    names = (await io.readdir(target.targetKey)).map((entry) => entry.name)
  } catch (error) {
    throw listFault(error, target.displayPath)
  }
  const entries: FsDirEntry[] = []
  for (const name of names.sort(byCodePoint)) {
    throwIfAborted(signal, 'list')
    entries.push(await describe(name, target, io))
  }
  return entries
}

async function describe(name: string, parent: FsTarget, io: Syscalls): Promise<FsDirEntry> {
  const displayPath = join(parent.displayPath, name)
  const spelled = join(parent.targetKey, name)
  try {
    const key = await io.realpath(spelled)
    const stat = await io.stat(key)
    return {
      name,
      type: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
      target: { targetKey: key, displayPath },
      version: versionOf(stat),
      ...(stat.isFile() ? { size: Number(stat.size) } : {}),
    }
  } catch (error) {
    // A dangling link, or gone since the listing.
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP')
      return { name, type: 'other', target: { targetKey: spelled, displayPath } }
    throw listFault(error, displayPath)
  }
}

function listFault(error: unknown, shown: string): Error {
  const options = { cause: error }
  switch (errorCode(error)) {
    case 'ENOENT':
      return fsError(fsErrors.notFound, `cannot list "${shown}": not found`, options)
    case 'ENOTDIR':
      return fsError(fsErrors.notDirectory, `cannot list "${shown}": not a directory`, options)
    case 'EACCES':
    case 'EPERM':
      return fsError(fsErrors.permissionDenied, `cannot list "${shown}": permission denied`, options)
    default:
      return fsError(fsErrors.io, `cannot list "${shown}": ${errnoWords(error)}`, options)
  }
}

export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
