import type { Context } from '@dsh/cordis'
import type { LlmCallConfig, LlmFailure, UserMessage } from '@dsh/llm'
import type { InboxTarget } from '@dsh/session'
import { Agents } from './registry.ts'
import type { Agent, AgentsService, PreStep, PreStepDecision, RequestError } from './types.ts'

export { type AgentErrorCode, agentError, agentErrors } from './errors.ts'
export { Inbox, type InboxListener } from './inbox.ts'
export type * from './types.ts'
export { pluginMessage, userMessage } from './user-message.ts'

declare module '@dsh/cordis' {
  interface Context {
    agents: AgentsService
  }
  /** Events about one agent are dispatched on `scopeTarget(agent)`. */
  interface Events {
    'agent/created'(agent: Agent): void
    'agent/disposed'(agent: Agent): void
    'agent/status'(agent: Agent, status: 'idle' | 'running'): void
    'agent/inbox/inserted'(agent: Agent, target: InboxTarget, messages: readonly UserMessage[]): void
    'agent/inbox/discarded'(agent: Agent, target: InboxTarget, messages: readonly UserMessage[]): void
    'agent/inbox/claimed'(agent: Agent, messages: readonly UserMessage[]): void
    /** Decision: what enters the step. `next()` gives the decision of the rows below (default: enter with what was claimed). */
    'agent/pre-step'(input: PreStep, next: () => Promise<PreStepDecision>): Promise<PreStepDecision>
    /** Decision: the config of the next request. */
    'agent/request'(agent: Agent, config: LlmCallConfig, next: () => Promise<LlmCallConfig>): Promise<LlmCallConfig>
    /** Decision: whether a failed request is asked again in the same step. */
    'agent/request-error'(
      input: RequestError,
      next: () => Promise<{ kind: 'retry' } | undefined>,
    ): Promise<{ kind: 'retry' } | undefined>
    /** Serial: the turn is about to end; a listener may `steer()` to go on. */
    'agent/turn-stopping'(agent: Agent, turn: number): Promise<void> | void
    'agent/error'(agent: Agent, failure: LlmFailure): void
  }
}

export const name = 'agent'

export async function apply(ctx: Context): Promise<void> {
  new Agents(ctx)
}
