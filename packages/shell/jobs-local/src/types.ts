import type { Agent } from '@dsh/agent'

export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed'

/** Unique in its session, resumed runs included: `<kind>-<n>`. */
export interface JobFacts {
  readonly id: string
  readonly kind: string
  /** What it does, in full: the command. */
  readonly label: string
  readonly status: JobStatus
  /** `exit code: 0`, `signal: SIGTERM`, … */
  readonly detail?: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt?: number
}

export interface JobOutcome {
  readonly status: 'completed' | 'killed' | 'failed'
  readonly detail?: string
}

/** What a producer hands over once its work has begun. */
export interface JobWork {
  readonly done: Promise<JobOutcome>
  /** What was produced since the last read; '' for nothing. Lines about the whole job come in `notes`. */
  read(): { readonly text: string; readonly notes: readonly string[] }
  /** Asks the work to stop; it settles by `done`. */
  cancel(reason: string): void
}

export interface StartJob {
  readonly kind: string
  readonly label: string
  /** The owner; only it sees the job, and the job ends with it. */
  readonly agent?: Agent
  /** Called once the job is admitted. A rejection means that nothing runs. */
  begin(): Promise<JobWork>
}

export interface JobRead {
  readonly text: string
  readonly notes: readonly string[]
  readonly job: JobFacts
}

export interface JobWait {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A row that lets an agent follow its jobs; without one nobody could read them, so none is started. */
export interface JobController {
  serves(agent: Agent | undefined): boolean
}

/** `ctx.jobs` */
export interface JobsService {
  /** Throws when no controller serves the agent, at the limit of active jobs, and whatever `begin` throws. */
  start(request: StartJob): Promise<JobFacts>
  /** In start order. */
  list(agent: Agent | undefined): readonly JobFacts[]
  /** Those still running or stopping. */
  active(agent: Agent | undefined): readonly JobFacts[]
  /** Throws for an id that is unknown, or another session's. */
  get(id: string, agent: Agent | undefined): JobFacts
  /**
   * One consuming read. Reads of one job follow each other in call order; with `wait` it blocks until the job has
   * settled or the time is over, and rejects when the signal aborts.
   */
  read(id: string, agent: Agent | undefined, wait?: JobWait): Promise<JobRead>
  /** Returns at once; false = it had finished already. */
  kill(id: string, agent: Agent | undefined, reason?: string): boolean
  /** Waits until the agent has no active job, at most `timeoutMs`; gives those that still are. */
  settled(agent: Agent | undefined, wait: JobWait): Promise<readonly JobFacts[]>
  attachController(controller: JobController): () => void
  hasController(agent: Agent | undefined): boolean
}
