import type { ApprovalAnswer, ApprovalRequest, ApprovalService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    approval: ApprovalService
  }
  interface Events {
    /** Decision: a person's answer. With no listener the request is `unavailable`. Dispatched on the agent's scope. */
    'approval/request'(
      request: ApprovalRequest & { readonly id: string },
      next: () => Promise<ApprovalAnswer>,
    ): Promise<ApprovalAnswer>
  }
}
