import type { SandboxPolicyService, SandboxService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    sandbox: SandboxService
    sandboxPolicy: SandboxPolicyService
  }
}
