import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type {} from '@dsh/system-prompt'

export interface Guidance {
  /** The tool whose visibility decides. */
  readonly tool: string
  readonly order: number
  readonly text: (agent: Agent) => string
  /** Of the section; `tool:<tool>` without. */
  readonly section?: string
}

/** A section of the system prompt that an agent reads while it sees the tool. Ends with the row that `ctx` belongs to. */
export function guide(ctx: Context, { tool, order, text, section = `tool:${tool}` }: Guidance): () => void {
  const { tools } = ctx
  return ctx.systemPrompt.section({
    name: section,
    order,
    literal: true,
    text: (agent) => (tools.get(tool, agent) === undefined ? undefined : text(agent)),
  })
}
