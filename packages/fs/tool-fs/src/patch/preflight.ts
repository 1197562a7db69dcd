import { DshError, isDshError } from '@dsh/core'
import { applyChunks, type FsInfo, type FsTarget, fsError, fsErrors } from '@dsh/fs'
import type { ToolExecution } from '@dsh/tools'
import type { FileToolDeps } from '../deps.ts'
import { mutationDiagnostic, rereadRemedy } from '../error.ts'
import { symlinkSource } from './errors.ts'
import type { PlannedOperation, PlannedPath } from './types.ts'

/** How a target would be after the operations before; null text = not read yet. */
interface Simulated {
  readonly exists: boolean
  readonly text: string | null
}

export interface Problem {
  readonly operation: PlannedOperation
  readonly error: DshError
}

/**
 * Plays the patch without writing and without observing anything. Any problem refuses the whole patch; a refused
 * operation has no effect on the ones behind it. What the sandbox allows is decided at each commit.
 */
export async function preflight(
  operations: readonly PlannedOperation[],
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<readonly Problem[]> {
  const state = new Map<string, Simulated>()
  const problems: Problem[] = []
  for (const operation of operations) {
    try {
      await check(operation, state, exec, deps)
    } catch (error) {
      if (!isDshError(error) || error.code === fsErrors.aborted) throw error
      problems.push({ operation, error })
    }
  }
  return problems
}

async function check(
  operation: PlannedOperation,
  state: Map<string, Simulated>,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<void> {
  const { kind, source, destination, chunks } = operation
  const target = resolved(source)
  if (kind === 'add') {
    await checkWritable(target, source, kind, state, exec, deps)
    state.set(target.targetKey, { exists: true, text: operation.content })
    return
  }
  const before = await checkExisting(target, source, kind, state, exec, deps)
  if (kind === 'delete') {
    state.set(target.targetKey, { exists: false, text: null })
    return
  }
  const after = applyChunks(before, chunks, source.label)
  if (destination === undefined) {
    state.set(target.targetKey, { exists: true, text: after })
    return
  }
  const to = resolved(destination)
  await checkWritable(to, destination, kind, state, exec, deps)
  state.set(target.targetKey, { exists: false, text: null })
  state.set(to.targetKey, { exists: true, text: after })
}

function resolved(path: PlannedPath): FsTarget {
  if (path.target === undefined) throw path.problem
  return path.target
}

/** A place that an operation fills: free, or a file that was read at its current version. */
async function checkWritable(
  target: FsTarget,
  path: PlannedPath,
  kind: string,
  state: Map<string, Simulated>,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<void> {
  if (state.has(target.targetKey)) return
  const { fs } = deps
  const info = await fs.stat(target, exec.signal)
  const link = info === undefined && (await fs.lstat(target.displayPath, {}, exec.signal)) !== undefined
  if (link || (info !== undefined && info.type !== 'file')) throw notRegular(kind, path.label)
  const intent = deps.writeIntent(target, exec)
  if (intent?.kind === 'createIfAbsent' && info !== undefined) throw notRead(path.label)
  if (intent?.kind === 'replaceIfVersion' && !(await fs.isFresh(target, intent.version, exec.signal)))
    throw stale(path.label)
}

/** A file that an operation changes or removes. Gives its text, '' for a removal. */
async function checkExisting(
  target: FsTarget,
  path: PlannedPath,
  kind: 'update' | 'delete' | 'move',
  state: Map<string, Simulated>,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<string> {
  const known = state.get(target.targetKey)
  if (known !== undefined) {
    if (!known.exists) throw notFound(kind, path.label)
    return known.text ?? (kind === 'delete' ? '' : await textOf(target, path, kind, exec, deps))
  }
  const info: FsInfo | undefined = await deps.fs.stat(target, exec.signal)
  if (info === undefined) throw notFound(kind, path.label)
  if (info.type !== 'file') throw notRegular(kind, path.label)
  if (kind !== 'update' && (await deps.fs.lstat(target.displayPath, {}, exec.signal))?.type === 'symlink')
    throw symlinkSource(kind, path.label)
  const expected = editIntent(target, path, exec, deps)
  if (expected !== undefined && !(await deps.fs.isFresh(target, expected.version, exec.signal))) throw stale(path.label)
  return kind === 'delete' ? '' : await textOf(target, path, kind, exec, deps)
}

function editIntent(target: FsTarget, path: PlannedPath, exec: ToolExecution, deps: FileToolDeps) {
  try {
    return deps.editIntent(target, exec)
  } catch (error) {
    // Seen as absent, and there now: that is no reading of it either.
    if (isDshError(error) && (error.code === fsErrors.notObserved || error.code === fsErrors.notFound))
      throw notRead(path.label)
    throw error
  }
}

async function textOf(
  target: FsTarget,
  path: PlannedPath,
  kind: string,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<string> {
  let text: string
  try {
    text = await deps.fs.readText(target, exec.signal)
  } catch (error) {
    if (!isDshError(error) || error.code === fsErrors.aborted) throw error
    const words = error.message.replace(`cannot read "${target.displayPath}"`, `cannot ${kind} "${path.label}"`)
    throw new DshError(error.code, words, { name: error.name, cause: error })
  }
  if (text.includes('\0')) throw fsError(fsErrors.notText, `cannot ${kind} "${path.label}": binary file`)
  return text
}

function notRead(label: string): DshError {
  const error = fsError(fsErrors.notObserved, '')
  return fsError(fsErrors.notObserved, mutationDiagnostic(error, { shown: label, mode: undefined }))
}

function stale(label: string): DshError {
  return fsError(fsErrors.stale, `cannot modify "${label}": file changed since it was read — ${rereadRemedy}`)
}

function notFound(kind: string, label: string): DshError {
  return fsError(fsErrors.notFound, `cannot ${kind} "${label}": not found`)
}

function notRegular(kind: string, label: string): DshError {
  return fsError(fsErrors.notRegularFile, `cannot ${kind} "${label}": not a regular file`)
}
