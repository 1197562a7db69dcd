import type { Agent, AgentLimits, Inbox } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { LlmCallConfig, LlmService } from '@dsh/llm'
import type { Session } from '@dsh/session'
import type { SystemPromptService } from '@dsh/system-prompt'
import type { ToolsService } from '@dsh/tools'

/** What a turn works with: one agent, its queues, and the services of its composition. */
export interface LoopHost {
  readonly ctx: Context
  readonly agent: Agent
  readonly session: Session
  readonly inbox: Inbox
  readonly llm: LlmService
  readonly tools: ToolsService
  readonly systemPrompt: SystemPromptService
  readonly limits: AgentLimits
  readonly maxParallelToolCalls: number
  readonly choice: ModelChoice
  /** Money spent by this agent so far; undefined when nobody counts. */
  readonly spentUsd: () => number | undefined
}

/** What the next request asks for, between turns and across them. */
export interface ModelChoice {
  /** Explicit choices that no request carries yet. */
  pending: LlmCallConfig
  /** Whether this loop logged a header already; the first one of a loop is always logged. */
  announced: boolean
}
