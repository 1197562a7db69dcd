import {
  applyChunks,
  type FsEditOutcome,
  type FsEditRequest,
  type FsPatchChunk,
  type FsTarget,
  type FsVersion,
  fsError,
  fsErrors,
} from '@dsh/fs'
import { type Backend, changedBytes, linksOf, remember } from './backend.ts'
import { type Current, examineText, isFresh } from './current.ts'
import { nearLineHint } from './near-line.ts'
import { changed, publish } from './publish.ts'
import { splice } from './splice.ts'
import type { Syscalls } from './syscalls.ts'
import { decodeText, encodeText, splitBom, toLf } from './text.ts'
import type { SeenContents } from './version.ts'

/** What an edit makes of a text; throws when it does not apply. */
export type Rewrite = (text: string) => string

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

/** Reads, guards and rewrites; nothing is written yet. */
export async function planRewrite(
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
