import { errorText, isDshError } from '@dsh/core'
import { type FsTarget, type FsVersion, type FsWriteIntent, fsErrors } from '@dsh/fs'
import type { SandboxPolicy } from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'
import type { FileToolDeps } from '../deps.ts'
import { mutationDiagnostic } from '../error.ts'
import type { Change, CommitReport, OperationReport, PlannedOperation } from './types.ts'

interface Commit {
  readonly exec: ToolExecution
  readonly deps: FileToolDeps
  readonly policy: SandboxPolicy | undefined
}

/** What one operation did. `left` = a move whose source is still there, with the reason. */
interface Done {
  readonly changes: readonly Change[]
  readonly left?: unknown
}

/** One provider call per operation, in order, each under guards taken anew; the first that does not complete ends it. */
export async function commitPatch(operations: readonly PlannedOperation[], commit: Commit): Promise<CommitReport> {
  const reports: OperationReport[] = []
  let stopped = false
  for (const operation of operations) {
    if (stopped || commit.exec.signal.aborted) {
      stopped = true
      reports.push({ ...headOf(operation), status: 'skipped', changes: [] })
      continue
    }
    const report = await commitOne(operation, commit)
    reports.push(report)
    stopped = report.status !== 'completed'
  }
  return {
    phase: 'commit',
    cancelled: commit.exec.signal.aborted,
    operations: reports,
    affectedPaths: [...new Set(reports.flatMap((report) => report.changes.map((change) => change.path)))],
  }
}

async function commitOne(operation: PlannedOperation, commit: Commit): Promise<OperationReport> {
  const head = headOf(operation)
  const targets = [operation.source.target, operation.destination?.target].filter((target) => target !== undefined)
  const before = await Promise.all(targets.map((target) => versionNow(target, commit)))
  try {
    const { changes, left } = await perform(operation, commit)
    if (left === undefined) return { ...head, status: 'completed', changes }
    return { ...head, status: 'failed', diagnostic: partialMove(operation, left), changes }
  } catch (error) {
    const status = (await isKnownFailure(error, targets, before, commit)) ? 'failed' : 'unknown'
    return { ...head, status, diagnostic: diagnosticOf(error, operation, commit), changes: [] }
  }
}

async function perform(operation: PlannedOperation, commit: Commit): Promise<Done> {
  switch (operation.kind) {
    case 'add':
      return await add(operation, commit)
    case 'update':
      return await update(operation, commit)
    case 'delete':
      return await remove(operation, commit)
    case 'move':
      return await move(operation, commit)
  }
}

async function add({ source, content }: PlannedOperation, { exec, deps, policy }: Commit): Promise<Done> {
  const target = source.target as FsTarget
  const outcome = await deps.fs.writeText(target, content, deps.writeIntent(target, exec), exec.signal, policy)
  deps.observed(target, { kind: 'present', version: outcome.version }, exec)
  const path = deps.fs.processPath(target)
  await deps.changed({ path, operation: outcome.operation, bytes: outcome.bytes ?? {} }, exec)
  return { changes: [{ path, before: outcome.before, after: outcome.after }] }
}

async function update({ source, chunks }: PlannedOperation, { exec, deps, policy }: Commit): Promise<Done> {
  const target = source.target as FsTarget
  const expected = deps.editIntent(target, exec)
  const outcome = await deps.fs.patchText(target, chunks, expected, exec.signal, policy, source.label)
  deps.observed(target, { kind: 'present', version: outcome.version }, exec)
  const path = deps.fs.processPath(target)
  await deps.changed({ path, operation: 'update', bytes: outcome.bytes ?? {} }, exec)
  return { changes: [{ path, before: outcome.before, after: outcome.after }] }
}

async function remove({ source }: PlannedOperation, { exec, deps, policy }: Commit): Promise<Done> {
  const target = source.target as FsTarget
  const outcome = await deps.fs.deleteFile(target, deps.editIntent(target, exec), exec.signal, policy)
  deps.observed(target, { kind: 'absent' }, exec)
  const path = deps.fs.processPath(target)
  await deps.changed({ path, operation: 'delete', bytes: outcome.bytes ?? {} }, exec)
  return { changes: [{ path, before: outcome.before, after: null }] }
}

async function move(operation: PlannedOperation, { exec, deps, policy }: Commit): Promise<Done> {
  const source = operation.source.target as FsTarget
  const destination = operation.destination?.target as FsTarget
  const from: { readonly version: FsVersion } | undefined = deps.editIntent(source, exec)
  const to: FsWriteIntent | undefined = deps.writeIntent(destination, exec)
  const outcome = await deps.fs.moveFile(
    source,
    destination,
    operation.chunks,
    { ...(from === undefined ? {} : { source: from }), ...(to === undefined ? {} : { destination: to }) },
    exec.signal,
    policy,
    operation.source.label,
  )
  const [old, path] = [deps.fs.processPath(source), deps.fs.processPath(destination)]
  deps.observed(destination, { kind: 'present', version: outcome.version }, exec)
  await deps.changed({ path, operation: outcome.operation, bytes: outcome.bytes ?? {} }, exec)
  const written: Change = { path, before: outcome.before, after: outcome.after }
  if (!outcome.sourceRemoved) return { changes: [written], left: outcome.removalError ?? 'source removal failed' }
  deps.observed(source, { kind: 'absent' }, exec)
  const bytes = outcome.sourceBytes === undefined ? {} : { before: outcome.sourceBytes }
  await deps.changed({ path: old, operation: 'delete', bytes }, exec)
  return { changes: [written, { path: old, before: outcome.sourceBefore, after: null }] }
}

function headOf(operation: PlannedOperation) {
  const { index, kind, line, source, destination } = operation
  return {
    index,
    kind,
    path: source.label,
    line,
    ...(destination === undefined ? {} : { destination: destination.label }),
  }
}

/** A backend fault that changed nothing is a failure; one that may have changed something is not known. */
async function isKnownFailure(
  error: unknown,
  targets: readonly FsTarget[],
  before: readonly (FsVersion | undefined | 'failed')[],
  commit: Commit,
): Promise<boolean> {
  if (!isDshError(error)) return true
  if (error.code === fsErrors.aborted) return false
  if (error.code !== fsErrors.io) return true
  const after = await Promise.all(targets.map((target) => versionNow(target, commit)))
  return after.every((version, index) => version !== 'failed' && version === before[index])
}

async function versionNow(target: FsTarget, { deps }: Commit): Promise<FsVersion | undefined | 'failed'> {
  try {
    return (await deps.fs.stat(target))?.version
  } catch {
    return 'failed'
  }
}

function diagnosticOf(error: unknown, { source, destination }: PlannedOperation, { policy }: Commit): string {
  if (!isDshError(error)) return errorText(error)
  // A destination that was not read is refused in the destination's name.
  const about = [source, destination].find((path) => error.message.includes(`"${path?.target?.displayPath}"`)) ?? source
  const text = mutationDiagnostic(error, { shown: about.label, mode: policy?.mode })
  const shown = about.target?.displayPath
  return shown === undefined ? text : text.replaceAll(`"${shown}"`, `"${about.label}"`)
}

function partialMove({ source, destination }: PlannedOperation, left: unknown): string {
  const denied = isDshError(left) && (left.code === fsErrors.permissionDenied || left.code === fsErrors.sandboxDenied)
  const reason = denied ? 'source removal denied' : errorText(left)
  return `${reason}\ndestination ${destination?.label} was written; source ${source.label} remains`
}
