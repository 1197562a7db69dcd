import type { SubprocessService } from '@dsh/subprocess'
import type { ToolExecution } from '@dsh/tools'
import type { Config } from './caps.ts'
import type { SavedList } from './saved-list.ts'

/** What the face of this row gives to both tools. */
export interface SearchDeps {
  readonly config: Config
  readonly processes: SubprocessService
  /** Paths that tools do not read, for the session of this call. */
  hiddenPaths(exec: ToolExecution): readonly string[]
  save(content: string, exec: ToolExecution): Promise<SavedList | undefined>
}

export function searchCwd(exec: ToolExecution): string {
  return exec.agent?.session.cwd ?? process.cwd()
}

export function requirePath(path: string | undefined): void {
  if (path !== undefined && path.trim() === '') throw new Error('path must be a non-empty string when given')
}
