import type { Context } from '@dsh/cordis'
import type { LlmCallConfig, LlmFailure, Message, UserMessage } from '@dsh/llm'
import type { AbortCause, InboxTarget, Session } from '@dsh/session'

export interface AgentLimits {
  /** Model requests per turn. */
  readonly maxTurns?: number
  readonly maxWallMs?: number
  readonly maxBudgetUsd?: number
}

export interface AgentOptions {
  readonly id?: string
  /** A new session of this id, or … */
  readonly sessionId?: string
  /** … a stored one, or … */
  readonly resumeSessionId?: string
  /** … one that is already live (a fork). */
  readonly session?: Session
  readonly cwd?: string
  readonly ephemeral?: boolean
  readonly provider?: string
  readonly model?: string
  readonly reasoningEffort?: string
  readonly maxTokens?: number
  readonly limits?: AgentLimits
}

export interface Agent {
  readonly id: string
  readonly session: Session
  /** Registrations through it are visible to this agent only and end with it. */
  readonly ctx: Context
  readonly status: 'idle' | 'running'
  readonly options: AgentOptions
  /** Aborted when the agent is disposed. */
  readonly signal: AbortSignal
  /** Queue for the next turn; wakes an idle agent. */
  followup(message: UserMessage | string): UserMessage
  /** Queue for the next step of the running turn; wakes an idle agent. */
  steer(message: UserMessage | string): UserMessage
  /** Queue for the next step; wakes nobody. */
  inject(message: UserMessage): void
  send(message: UserMessage, target: InboxTarget, wakeup: boolean): void
  pending(target: InboxTarget): readonly UserMessage[]
  /** First cause wins. Clears the queues (outcome `canceled`) unless `keepInbox`. */
  cancel(cause: AbortCause, options?: { readonly keepInbox?: boolean }): void
  whenIdle(): Promise<void>
  /** Runs a job while no turn may run; throws when the agent is busy. */
  runMaintenance<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Changes what the next request asks for; logged with its header. */
  configure(change: Pick<AgentOptions, 'provider' | 'model' | 'reasoningEffort' | 'limits'>): void
  dispose(): Promise<void>
}

/** Makes agents; agent-loop registers the one that drives a model. */
export type AgentFactory = (options: AgentOptions) => Promise<Agent>

/** `ctx.agents` */
export interface AgentsService {
  /** Throws `no agent factory registered (load an agent-loop plugin)` until a loop row is mounted. */
  create(options?: AgentOptions): Promise<Agent>
  get(id: string): Agent | undefined
  list(): readonly Agent[]
  bySession(session: Session): Agent | undefined
  registerFactory(factory: AgentFactory): () => void
}

export type PreStepDecision =
  | { readonly kind: 'enter'; readonly messages: readonly UserMessage[] }
  /** The claimed prompt goes back to its queue; the turn ends `blocked`. */
  | { readonly kind: 'reject'; readonly reason?: string }

export interface PreStep {
  readonly agent: Agent
  readonly turn: number
  /** The step about to start, from 1. */
  readonly step: number
  /** What was claimed from the inbox for this step, in order. */
  readonly claimed: readonly UserMessage[]
  /** Aborts with the turn. */
  readonly signal: AbortSignal
}

export interface RequestError {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly provider: string
  readonly failure: LlmFailure
  /** Aborts with the turn. No tool of this step ran yet: a request fails before its answer is complete. */
  readonly signal: AbortSignal
}

export type { LlmCallConfig, Message }
