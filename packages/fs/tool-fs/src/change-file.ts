import type { FsChangedBytes, FsTarget, FsVersion } from '@dsh/fs'
import type { SandboxPolicy } from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'
import { type FileChange, type FileToolDeps, type MutationArgs, sessionCwd } from './deps.ts'
import { mutationError } from './error.ts'

/** What `fs` says of one changed file, as far as every change says it. */
interface ChangeOutcome {
  readonly operation?: FileChange['operation']
  readonly version: FsVersion
  readonly bytes?: FsChangedBytes
  readonly links?: number
}

/**
 * The course of every tool that changes the one file it names: the policy of this call before any I/O, the target, the
 * change itself, and what follows from it. Returns the canonical path, what the change said, and the note for the model
 * (absent when there is nothing to note). Throws an `Error` whose text is the tool's result.
 */
export async function changeFile<Outcome extends ChangeOutcome>(
  verb: 'edit' | 'write',
  args: MutationArgs,
  exec: ToolExecution,
  deps: FileToolDeps,
  change: (target: FsTarget, policy: SandboxPolicy | undefined) => Promise<Outcome>,
): Promise<{ readonly path: string; readonly outcome: Outcome; readonly note: { readonly note?: string } }> {
  const policy = await deps.policyFor(args, exec, args.file_path)
  let shown = args.file_path
  try {
    const target = await deps.fs.resolve(args.file_path, { cwd: sessionCwd(exec), signal: exec.signal, verb })
    shown = target.displayPath
    const outcome = await change(target, policy)
    const path = await settle(target, outcome, exec, deps)
    const note = deps.hints ? splitLinksNote(outcome.links) : undefined
    return { path, outcome, note: note === undefined ? {} : { note } }
  } catch (error) {
    throw mutationError(error, { shown, mode: policy?.mode, hints: deps.hints })
  }
}

/** After a change: it is observed at its new version, its before-text is kept, and its canonical path is the result's. */
async function settle(target: FsTarget, outcome: ChangeOutcome, exec: ToolExecution, deps: FileToolDeps) {
  const { operation = 'update', version, bytes = {} } = outcome
  deps.observed(target, { kind: 'present', version }, exec)
  const path = deps.fs.processPath(target)
  await deps.changed({ operation, bytes, path }, exec)
  return path
}

/** A line for the model when other names of the file kept the old content. */
function splitLinksNote(links: number | undefined): string | undefined {
  if (links === undefined || links < 2) return undefined
  const others = links === 2 ? 'one other hard link' : `${links - 1} other hard links`
  return `Note: ${others} to this file keep${links === 2 ? 's' : ''} the old content.`
}
