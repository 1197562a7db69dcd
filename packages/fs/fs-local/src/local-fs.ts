import { constants } from 'node:buffer'
import { lstatSync } from 'node:fs'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorCode } from '@dsh/core'
import { type FsService, throwIfAborted } from '@dsh/fs'
import type { Backend } from './backend.ts'
import { examine, isFresh } from './current.ts'
import { namedFault } from './errno.ts'
import { listDirectory } from './list-dir.ts'
import { createLocks } from './locks.ts'
import { moveFile } from './move.ts'
import { thisOwner } from './owner.ts'
import { readBytesOf, readWholeText, streamTextOf } from './read.ts'
import { removeFile } from './remove.ts'
import { checkedPath, resolveEntry, resolveTarget } from './resolve.ts'
import { editFile, patchFile } from './rewrite.ts'
import { createStaging } from './staging.ts'
import { nodeSyscalls, type Syscalls } from './syscalls.ts'
import { infoOf, SeenContents } from './version.ts'
import { writeFile } from './write.ts'

export interface LocalFsOptions {
  /** For relative paths without a `cwd` of their own. Default: the process's. */
  readonly cwd?: string
  readonly diffBasisMaxBytes?: number
  /** Lock and journal files of all processes; absent: neither locks between processes nor cleanup after a kill. */
  readonly stateDir?: string
  readonly io?: Syscalls
}

export interface LocalFs extends FsService {
  /** Ends this process's journal. Mutations still running finish. */
  close(): void
}

export const diffBasisDefault = 10 * 1024 * 1024

export function createLocalFs(options: LocalFsOptions = {}): LocalFs {
  const io = options.io ?? nodeSyscalls
  const owner = thisOwner()
  const { stateDir } = options
  const staging = createStaging(owner, stateDir === undefined ? undefined : join(stateDir, 'staging'), io)
  const seen = new SeenContents()
  const backend: Backend = {
    io,
    staging,
    seen,
    locks: createLocks(owner, stateDir === undefined ? undefined : join(stateDir, 'locks')),
    diffBasisMaxBytes: checkedBasis(options.diffBasisMaxBytes ?? diffBasisDefault),
  }
  const base = () => options.cwd ?? process.cwd()
  staging.sweep()

  return {
    sandboxMode: undefined,
    close: () => staging.close(),
    async resolve(path, { cwd, signal, verb = 'resolve' } = {}) {
      throwIfAborted(signal, 'resolve')
      const target = await resolveTarget(path, cwd ?? base(), verb, io)
      throwIfAborted(signal, 'resolve')
      return target
    },
    processPath: (target) => target.targetKey,
    fileUrl: (target) => pathToFileURL(target.targetKey).href,
    contains: (parent, child) => containsPath(parent.targetKey, child.targetKey),
    async stat(target, signal) {
      throwIfAborted(signal, 'stat')
      try {
        return infoOf(await io.stat(target.targetKey))
      } catch (error) {
        const code = errorCode(error)
        if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
        throw namedFault(error, 'read', target.displayPath)
      }
    },
    async isFresh(target, version, signal) {
      const current = await examine({ target, verb: 'read', readUpTo: -1, expected: version, signal }, io, seen)
      return current !== undefined && isFresh(target, version, current, seen)
    },
    async lstat(path, { cwd } = {}, signal) {
      throwIfAborted(signal, 'lstat')
      const shown = checkedPath(path, cwd ?? base(), 'read')
      try {
        const stat = await io.lstat(await resolveEntry(path, cwd ?? base(), 'read', io))
        return stat.isSymbolicLink() ? { ...infoOf(stat), type: 'symlink' } : infoOf(stat)
      } catch (error) {
        const code = errorCode(error)
        if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'FS_NOT_FOUND') return undefined
        throw namedFault(error, 'read', shown)
      }
    },
    readText: (target, signal) => readWholeText(target, io, seen, signal),
    streamText: (target, signal) => streamTextOf(target, io, signal),
    readBytes: (target, signal, maxBytes) => readBytesOf(target, io, signal, maxBytes),
    listDir: (target, signal) => listDirectory(target, io, signal),
    writeText: (target, content, expected, signal) => writeFile(target, content, expected, backend, signal),
    editText: (target, edit, expected, signal) => editFile(target, edit, expected, backend, signal),
    patchText: (target, chunks, expected, signal, _policy, label = target.displayPath) =>
      patchFile(target, chunks, expected, backend, label, signal),
    deleteFile: (target, expected, signal) => removeFile(target, expected, backend, signal),
    moveFile: (source, destination, chunks, expected = {}, signal, _policy, label = source.displayPath) =>
      moveFile(source, destination, chunks, expected, backend, label, signal),
  }
}

/** Most bytes a before-text may have; every text up to it must fit one string. */
export const diffBasisCeiling = Math.min(constants.MAX_LENGTH, constants.MAX_STRING_LENGTH)

function checkedBasis(value: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= diffBasisCeiling) return value
  throw new Error(`fs-local: diffBasisMaxBytes must be a positive safe integer no greater than ${diffBasisCeiling}`)
}

/** Whether `child` is `root` or lies below it: by spelling, else by identity of an existing ancestor. */
export function containsPath(root: string, child: string): boolean {
  if (below(root, child)) return true
  const place = identity(root)
  if (place === undefined) return false
  for (let at = child; ; ) {
    if (identity(at) === place) return true
    const cut = at.lastIndexOf(sep)
    const parent = cut <= 0 ? at.slice(0, cut + 1) : at.slice(0, cut)
    if (parent === at || parent === '') return false
    at = parent
  }
}

function below(root: string, child: string): boolean {
  const [a, b] = process.platform === 'win32' ? [root.toLowerCase(), child.toLowerCase()] : [root, child]
  return a === b || b.startsWith(a.endsWith(sep) ? a : a + sep)
}

function identity(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true })
    return `${stat.dev}:${stat.ino}`
  } catch {
    return undefined
  }
}
