import type { SystemPromptService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    systemPrompt: SystemPromptService
  }
}
