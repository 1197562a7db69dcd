import type { AgentDefaultModel } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    agentDefaultModel: AgentDefaultModel
  }
}
