import type { Agent } from '@dsh/agent'

export interface FileReference {
  /** Relative to the session's directory, with `/`. */
  readonly path: string
  readonly directory: boolean
}

/** `ctx.fileReferences` */
export interface FileReferences {
  /** Candidates for what stands behind `@`, best first. */
  complete(agent: Agent, query: string, signal?: AbortSignal): Promise<readonly FileReference[]>
}
