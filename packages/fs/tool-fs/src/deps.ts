import type { FsChangedBytes, FsObservation, FsService, FsTarget, FsVersion, FsWriteIntent } from '@dsh/fs'
import type { EscalationArgs, SandboxPolicy } from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'

/** What the face of this row gives to each tool. */
export interface FileToolDeps {
  readonly fs: FsService
  /** Further lines behind the first line of a result or an error. */
  readonly hints: boolean
  writeIntent(target: FsTarget, exec: ToolExecution): FsWriteIntent | undefined
  editIntent(target: FsTarget, exec: ToolExecution): { readonly version: FsVersion } | undefined
  /** Announced after success only. */
  observed(target: FsTarget, observation: FsObservation, exec: ToolExecution): void
  /** The policy of this call, after an escalation that was asked for and allowed. Runs before any I/O. */
  policyFor(args: EscalationArgs, exec: ToolExecution, path: string): Promise<SandboxPolicy | undefined>
  /** Keeps what a change replaced, for `/diff` and `/undo`. */
  changed(change: FileChange, exec: ToolExecution): Promise<void>
}

export interface FileChange {
  readonly path: string
  readonly operation: 'create' | 'update' | 'delete'
  readonly bytes: FsChangedBytes
}

export interface MutationArgs extends EscalationArgs {
  readonly file_path: string
}

export function sessionCwd(exec: ToolExecution): string | undefined {
  return exec.agent?.session.cwd
}
