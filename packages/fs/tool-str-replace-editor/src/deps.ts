import type { FsObservation, FsService, FsTarget, FsVersion, FsWriteIntent } from '@dsh/fs'
import type { SandboxPolicy } from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'

/** What the face of this row gives to the commands. */
export interface EditorDeps {
  readonly fs: FsService
  readonly maxOutputChars: number
  writeIntent(target: FsTarget, exec: ToolExecution): FsWriteIntent | undefined
  editIntent(target: FsTarget, exec: ToolExecution): { readonly version: FsVersion } | undefined
  observed(target: FsTarget, observation: FsObservation, exec: ToolExecution): void
  /** The standing policy; this tool asks for no wider one. */
  policy(exec: ToolExecution): SandboxPolicy | undefined
}

export interface EditorArgs {
  readonly command: 'view' | 'create' | 'str_replace' | 'insert'
  readonly path: string
  readonly file_text?: string
  readonly old_str?: string
  readonly new_str?: string
  readonly insert_line?: number
  readonly view_range?: readonly number[]
}
