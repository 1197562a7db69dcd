import type { Agent, AgentOptions } from '@dsh/agent'
import type { AttachmentRef, ModelInfo } from '@dsh/llm'
import type { Session, SessionEvent, StoredSession } from '@dsh/session'
import type { ApprovalAnswer, ApprovalRequest } from '@dsh/user-approval'
import type { CommandEntry } from './completion.ts'
import type { ExportTarget } from './export-target.ts'
import type { ModelChoice } from './model-choice.ts'
import type { StatusFacts } from './status-line.ts'
import type { RunningJob } from './view/footer.ts'

/** All that the surface needs of the rows around it. `services.ts` makes it from the mounted services. */
export interface TerminalHost {
  readonly version: string
  readonly cwd: string
  /** For prompt history and exports. */
  readonly home: string
  createAgent(options: AgentOptions): Promise<Agent>
  /** What a new session asks where nobody says otherwise. */
  defaultModel(): ModelChoice
  /** Throws when the composition has no preset of this name. */
  setPermissionMode(agent: Agent, mode: string): void
  /** Brings a stored session to life. */
  resume(id: string): Promise<Session>
  /** Copies a stored session; gives the live copy. */
  fork(id: string, newId?: string): Promise<Session>
  flush(session: Session): Promise<void>
  /** Newest first; with `cwd` those of that directory. */
  sessions(cwd?: string): Promise<readonly StoredSession[]>
  /** False also where the composition keeps no sessions. */
  isStored(id: string): Promise<boolean>
  /** The last prompts of a stored session, for the picker's preview. */
  preview(id: string): Promise<string>
  onEvent(listener: (session: Session, event: SessionEvent) => void): () => void
  onStatus(listener: (agent: Agent) => void): () => void
  onApproval(answer: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>): () => void
  /** A line for the person that is no event: a rejected reload, a warning. */
  onNotice(listener: (text: string) => void): () => void
  commands(agent: Agent): readonly CommandEntry[]
  runCommand(agent: Agent, name: string, args: string): Promise<{ readonly ok: boolean; readonly text: string }>
  models(): Promise<readonly ModelInfo[]>
  providers(): readonly string[]
  /** The efforts that a model knows; undefined when its provider cannot tell. */
  efforts(route: ModelChoice): Promise<readonly string[] | undefined>
  files(
    agent: Agent,
    query: string,
    signal: AbortSignal,
  ): Promise<readonly { readonly path: string; readonly directory: boolean }[]>
  status(agent: Agent): StatusFacts
  /** Resolves when the status can say what confines here. */
  sandboxKnown(): Promise<void>
  /** The bytes behind a picture of a tool result. */
  readPicture(ref: AttachmentRef): Promise<Uint8Array>
  /** Background jobs that are running. */
  jobs(agent: Agent): readonly RunningJob[]
  /** Lines for `/cost`. */
  cost(agent: Agent): readonly string[]
  /** Gives the file that was written; one that is there already is refused. */
  exportSession(agent: Agent, target: ExportTarget): Promise<string>
  changeDirectory(agent: Agent, directory: string): Promise<string>
  doctor(): Promise<readonly string[]>
  /** Where the key comes from; undefined = there is none. */
  keySource(): Promise<string | undefined>
  storeKey(key: string): Promise<void>
}
