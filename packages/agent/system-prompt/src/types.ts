import type { Agent } from '@dsh/agent'

export interface PromptSection {
  readonly name: string
  /** Ascending; ties keep registration order. */
  readonly order: number
  /** Template text, or a function of the calling agent; '' and undefined drop the section. */
  readonly text: string | ((agent: Agent) => string | undefined)
  /** The whole prompt: replaces every other section. Two of them are an error. */
  readonly complete?: boolean
  /** With `complete`: also drop the runtime-context snapshot. */
  readonly includeRuntimeContext?: boolean
  /** Do not expand `{{name}}` in this text. */
  readonly literal?: boolean
}

export interface ContextSection {
  readonly name: string
  readonly order: number
  readonly text: (agent: Agent) => string | undefined
}

/** `ctx.systemPrompt` */
export interface SystemPromptService {
  /** Registrations end with the calling row; through `agent.ctx` they are that agent's alone. */
  section(section: PromptSection): () => void
  /** A part of the runtime-context snapshot (a user message, sent again only when its text changes). */
  context(section: ContextSection): () => void
  /** The system prompt; `{{provider}}`, `{{model}}`, `{{cwd}}` are strict. */
  assemble(agent: Agent, vars: { readonly provider?: string; readonly model?: string; readonly cwd?: string }): string
  /** The snapshot's text and sections, or undefined when no section speaks. */
  runtimeContext(
    agent: Agent,
  ):
    | { readonly text: string; readonly sections: readonly { readonly name: string; readonly text: string }[] }
    | undefined
}
