/** `ctx.agentDefaultModel` */
export interface AgentDefaultModel {
  current(): { readonly provider: string; readonly model: string; readonly reasoningEffort?: string }
}
