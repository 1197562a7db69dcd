import type { Agent } from '@dsh/agent'
import type { Session } from '@dsh/session'

export type ApprovalOutcome = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'
export type ApprovalPolicy = 'ask' | 'never'

export interface ApprovalRequest {
  readonly agent: Agent
  readonly toolName: string
  readonly callId?: string
  /** Logged; what the person is asked to allow. */
  readonly reason?: string
  /** What exactly would run: the command, or the path. For answerers only, not logged. */
  readonly subject?: {
    readonly command?: string
    readonly path?: string
    readonly mode?: string
    readonly justification?: string
  }
  readonly signal?: AbortSignal
}

/** An answerer's reply. `note` is a person's reason for a rejection; the model gets it on a second line. */
export type ApprovalAnswer = ApprovalOutcome | { readonly outcome: ApprovalOutcome; readonly note?: string }

/** `ctx.approval` */
export interface ApprovalService {
  /** Only `allowed-once` grants, and only for this request. */
  request(request: ApprovalRequest): Promise<ApprovalOutcome>
  /** As `request`, with the person's note. */
  ask(request: ApprovalRequest): Promise<{ readonly outcome: ApprovalOutcome; readonly note?: string }>
  setPolicy(agent: Agent, policy: ApprovalPolicy): void
  policyOf(session: Session): ApprovalPolicy
  overrideOf(session: Session): ApprovalPolicy | undefined
  readonly defaultPolicy: ApprovalPolicy
}
