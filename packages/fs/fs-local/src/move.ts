import {
  applyChunks,
  type FsMoveOutcome,
  type FsPatchChunk,
  type FsTarget,
  type FsVersion,
  type FsWriteIntent,
  fsError,
  fsErrors,
} from '@dsh/fs'
import { type Backend, basisText, changedBytes, checkIntent, remember } from './backend.ts'
import { examine } from './current.ts'
import { publish } from './publish.ts'
import { unlinkUnchanged } from './remove.ts'
import { planRewrite, type Rewrite } from './rewrite.ts'
import { toLf } from './text.ts'

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
