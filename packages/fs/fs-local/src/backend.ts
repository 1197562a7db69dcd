import { isUtf8 } from 'node:buffer'
import { type FsChangedBytes, type FsTarget, type FsVersion, type FsWriteIntent, fsError, fsErrors } from '@dsh/fs'
import { type Current, isFresh } from './current.ts'
import type { Locks } from './locks.ts'
import { changed, mustReadFirst } from './publish.ts'
import type { Staging } from './staging.ts'
import type { Syscalls } from './syscalls.ts'
import { splitBom, toLf } from './text.ts'
import { contentHash, type SeenContents } from './version.ts'

export interface Backend {
  readonly io: Syscalls
  readonly locks: Locks
  readonly staging: Staging
  readonly seen: SeenContents
  /** Before-texts are kept below this many bytes. */
  readonly diffBasisMaxBytes: number
}

/** Throws unless the file is as the intent says. */
export function checkIntent(
  target: FsTarget,
  old: Current | undefined,
  intent: FsWriteIntent | undefined,
  seen: SeenContents,
): void {
  if (intent?.kind === 'replaceIfVersion') {
    if (old === undefined) throw fsError(fsErrors.stale, `cannot write "${target.displayPath}": file no longer exists`)
    if (!isFresh(target, intent.version, old, seen)) throw changed(target, 'write')
  }
  if (intent?.kind === 'createIfAbsent' && old !== undefined) throw mustReadFirst(target)
}

/** Null where a diff would be of no use: binary, undecodable or large. */
export function basisText(bytes: Buffer, limit: number): string | null {
  if (bytes.length >= limit || bytes.includes(0) || !isUtf8(bytes)) return null
  return toLf(splitBom(bytes.toString('utf8')).text)
}

export function changedBytes(old: Current | undefined, after: Buffer, limit: number): FsChangedBytes {
  return {
    ...(old?.bytes !== undefined && old.bytes.length < limit ? { before: old.bytes } : {}),
    ...(after.length < limit ? { after } : {}),
  }
}

export function linksOf(old: Current | undefined): { links?: number } {
  return old !== undefined && old.stat.nlink > 1n ? { links: Number(old.stat.nlink) } : {}
}

export function remember(target: FsTarget, version: FsVersion, bytes: Buffer, backend: Backend): void {
  backend.seen.remember(target.targetKey, version, contentHash(bytes))
}
