import type { Fold, Session } from '@dsh/session'
import type { ApprovalPolicy } from './types.ts'

/** The last `approval/policy` of a session. */
const lastPolicy: Fold<ApprovalPolicy | undefined> = {
  initial: () => undefined,
  apply: (policy, event) => (event.type === 'approval/policy' ? event.data.policy : policy),
}

export function policyOverride(session: Session): ApprovalPolicy | undefined {
  return session.fold(lastPolicy)
}

export function assertPolicy(policy: unknown): asserts policy is ApprovalPolicy {
  if (policy !== 'ask' && policy !== 'never') throw new TypeError('approval policy must be one of "ask" or "never"')
}

/** What the model is told; it must not plan on an answer that nobody can give. */
export function policyStatement(policy: ApprovalPolicy, someoneAnswers: boolean): string {
  if (policy === 'never')
    return 'Approval prompts are disabled in this session: actions that require approval are rejected automatically — do not request sandbox escalation (do not set `sandbox_permissions`).'
  return someoneAnswers
    ? 'Approval policy: ask. Operations that require approval may ask through the configured answerers; without an available answerer, the request fails closed.'
    : 'Approval policy: ask. No one is present to answer in this run: every operation that requires approval fails closed — do not request sandbox escalation (do not set `sandbox_permissions`).'
}
