import { isUtf8 } from 'node:buffer'
import { basename, dirname } from 'node:path'
import { errorCode } from '@dsh/core'
import {
  applyChunks,
  type FsChangedBytes,
  type FsDeleteOutcome,
  type FsEditOutcome,
  type FsEditRequest,
  type FsMoveOutcome,
  type FsPatchChunk,
  type FsTarget,
  type FsVersion,
  type FsWriteIntent,
  type FsWriteOutcome,
  fsError,
  fsErrors,
  throwIfAborted,
} from '@dsh/fs'
import { type Current, examine, examineText, isFresh } from './current.ts'
import { namedFault } from './errno.ts'
import type { Locks } from './locks.ts'
import { nearLineHint } from './near-line.ts'
import { pinDirectory } from './pinned-directory.ts'
import { changed, mustReadFirst, publish } from './publish.ts'
import { splice } from './splice.ts'
import type { Staging } from './staging.ts'
import type { Syscalls } from './syscalls.ts'
import { decodeText, encodeText, splitBom, toLf } from './text.ts'
import { contentHash, type SeenContents, versionOf } from './version.ts'

export interface Backend {
  readonly io: Syscalls
  readonly locks: Locks
  readonly staging: Staging
  readonly seen: SeenContents
  /** Before-texts are kept below this many bytes. */
  readonly diffBasisMaxBytes: number
}

export async function writeFile(
  target: FsTarget,
  content: string | Uint8Array,
  intent: FsWriteIntent | undefined,
  backend: Backend,
  signal?: AbortSignal,
): Promise<FsWriteOutcome> {
  const { io, locks, seen, diffBasisMaxBytes } = backend
  return await locks.with([target.targetKey], 'write', signal, async () => {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)
    const basis = bytes.length < diffBasisMaxBytes ? diffBasisMaxBytes - 1 : -1
    const expected = intent?.kind === 'replaceIfVersion' ? intent.version : undefined
    const old = await examine({ target, verb: 'write', readUpTo: basis, expected, signal }, io, seen)
    checkIntent(target, old, intent, seen)
    const how = intent === undefined ? 'force' : old === undefined ? 'create' : 'replace'
    const version = await publish({ target, bytes, verb: 'write', old: old?.stat, how, signal }, io, backend.staging)
    remember(target, version, bytes, backend)
    return {
      operation: old === undefined ? 'create' : 'update',
      version,
      before: old?.bytes === undefined || basis < 0 ? null : basisText(old.bytes, diffBasisMaxBytes),
      after: toLf(typeof content === 'string' ? content : bytes.toString('utf8')),
      bytes: changedBytes(old, bytes, diffBasisMaxBytes),
      ...linksOf(old),
    }
  })
}

function checkIntent(
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

/** What an edit makes of a text; throws when it does not apply. */
type Rewrite = (text: string) => string

async function rewriteFile(
  target: FsTarget,
  rewrite: Rewrite,
  expected: { readonly version: FsVersion } | undefined,
  backend: Backend,
  words: { readonly verb: string; readonly shown: string },
  signal?: AbortSignal,
): Promise<FsEditOutcome> {
  const { io, locks, seen } = backend
  return await locks.with([target.targetKey], words.verb, signal, async () => {
    const plan = await planRewrite(target, rewrite, expected, words, io, seen, signal)
    const { old, bytes } = plan
    const version = await publish(
      { target, bytes, verb: words.verb, old: old.stat, how: 'replace', signal },
      io,
      backend.staging,
    )
    remember(target, version, bytes, backend)
    const bounded = old.bytes !== undefined && old.bytes.length < backend.diffBasisMaxBytes
    return {
      version,
      before: bounded ? toLf(plan.before) : null,
      after: toLf(plan.after),
      bytes: changedBytes(old, bytes, backend.diffBasisMaxBytes),
      ...linksOf(old),
    }
  })
}

async function planRewrite(
  target: FsTarget,
  rewrite: Rewrite,
  expected: { readonly version: FsVersion } | undefined,
  words: { readonly verb: string; readonly shown: string },
  io: Syscalls,
  seen: SeenContents,
  signal: AbortSignal | undefined,
): Promise<{ old: Current; before: string; after: string; bytes: Buffer }> {
  const { verb } = words
  const old = await examineText({ target, verb, expected: expected?.version, signal }, io, seen)
  if (old === undefined) throw changed(target, verb)
  if (expected !== undefined && !isFresh(target, expected.version, old, seen)) throw changed(target, verb)
  if (old.bytes === undefined) throw changed(target, verb)
  const { text, bom } = decodeText(old.bytes, verb, words.shown, 'anywhere')
  const after = rewrite(text)
  return { old, before: text, after, bytes: encodeText(after, bom) }
}

export function editFile(
  target: FsTarget,
  edit: FsEditRequest,
  expected: { readonly version: FsVersion } | undefined,
  backend: Backend,
  signal?: AbortSignal,
): Promise<FsEditOutcome> {
  const words = { verb: 'edit', shown: target.displayPath }
  return rewriteFile(target, (text) => spliced(text, edit, target), expected, backend, words, signal)
}

function spliced(text: string, edit: FsEditRequest, target: FsTarget): string {
  const shown = target.displayPath
  // Where the file has a byte order mark it is no part of the text, so neither is one in front of the needle.
  const oldString = splitBom(edit.oldString).text
  if (oldString === '') throw fsError(fsErrors.editNotFound, 'old_string must be a non-empty string')
  const newString = edit.oldString === oldString ? edit.newString : splitBom(edit.newString).text
  const result = splice(text, { ...edit, oldString, newString })
  if (result.text !== undefined) return result.text
  if (result.count === 0)
    throw fsError(fsErrors.editNotFound, `old_string was not found in "${shown}"`, {
      hint: nearLineHint(toLf(text), oldString),
    })
  const more = result.count > result.lines.length ? ', …' : ''
  throw fsError(
    fsErrors.ambiguousEdit,
    `old_string matched ${result.count} times in "${shown}"; provide a more specific old_string or set replace_all to true`,
    { hint: `Matches start at lines ${result.lines.join(', ')}${more}.` },
  )
}

export function patchFile(
  target: FsTarget,
  chunks: readonly FsPatchChunk[],
  expected: { readonly version: FsVersion } | undefined,
  backend: Backend,
  label: string,
  signal?: AbortSignal,
): Promise<FsEditOutcome> {
  const words = { verb: 'update', shown: label }
  return rewriteFile(target, (text) => applyChunks(text, chunks, label), expected, backend, words, signal)
}

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

async function unlinkUnchanged(
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

/** Publishes the destination, then removes the source; a source that stays is reported, not thrown. */
export async function moveFile(
  source: FsTarget,
  destination: FsTarget,
  chunks: readonly FsPatchChunk[] | null,
  expected: { readonly source?: { readonly version: FsVersion }; readonly destination?: FsWriteIntent },
  backend: Backend,
  label: string,
  signal?: AbortSignal,
): Promise<FsMoveOutcome> {
  const { io, locks, seen, diffBasisMaxBytes } = backend
  if (source.targetKey === destination.targetKey)
    throw fsError(fsErrors.notObserved, `cannot move "${source.displayPath}": source and destination are the same file`)
  return await locks.with([source.targetKey, destination.targetKey], 'move', signal, async () => {
    const words = { verb: 'move', shown: label }
    const rewrite: Rewrite = (text) => (chunks === null ? text : applyChunks(text, chunks, label))
    const plan = await planRewrite(source, rewrite, expected.source, words, io, seen, signal)
    const intent = expected.destination
    const version = intent?.kind === 'replaceIfVersion' ? intent.version : undefined
    const readUpTo = diffBasisMaxBytes - 1
    const there = await examine({ target: destination, verb: 'write', readUpTo, expected: version, signal }, io, seen)
    checkIntent(destination, there, intent, seen)
    const how = intent === undefined ? 'force' : there === undefined ? 'create' : 'replace'
    // A new name keeps the mode of the file that moved.
    const old = there?.stat ?? plan.old.stat
    const published = await publish(
      { target: destination, bytes: plan.bytes, verb: 'write', old, how, signal },
      io,
      backend.staging,
    )
    remember(destination, published, plan.bytes, backend)
    const removalError = await unlinkUnchanged(source, plan.old, 'delete', io, undefined).then(
      () => undefined,
      (error: unknown) => error,
    )
    return {
      version: published,
      operation: there === undefined ? 'create' : 'update',
      sourceBefore: basisText(plan.old.bytes as Buffer, diffBasisMaxBytes),
      before: there?.bytes === undefined ? null : basisText(there.bytes, diffBasisMaxBytes),
      after: toLf(plan.after),
      sourceRemoved: removalError === undefined,
      ...(removalError === undefined ? {} : { removalError }),
      bytes: changedBytes(there, plan.bytes, diffBasisMaxBytes),
      ...((plan.old.bytes as Buffer).length < diffBasisMaxBytes ? { sourceBytes: plan.old.bytes as Buffer } : {}),
    }
  })
}

/** Null where a diff would be of no use: binary, undecodable or large. */
function basisText(bytes: Buffer, limit: number): string | null {
  if (bytes.length >= limit || bytes.includes(0) || !isUtf8(bytes)) return null
  return toLf(splitBom(bytes.toString('utf8')).text)
}

function changedBytes(old: Current | undefined, after: Buffer, limit: number): FsChangedBytes {
  return {
    ...(old?.bytes !== undefined && old.bytes.length < limit ? { before: old.bytes } : {}),
    ...(after.length < limit ? { after } : {}),
  }
}

function linksOf(old: Current | undefined): { links?: number } {
  return old !== undefined && old.stat.nlink > 1n ? { links: Number(old.stat.nlink) } : {}
}

function remember(target: FsTarget, version: FsVersion, bytes: Buffer, backend: Backend): void {
  backend.seen.remember(target.targetKey, version, contentHash(bytes))
}
