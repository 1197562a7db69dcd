import { DshError } from '@dsh/core'

export const approvalErrors = {
  /** An approval belongs to a turn; outside of one there is nothing to log it in. */
  noOpenTurn: 'APPROVAL_NO_OPEN_TURN',
} as const

export function noOpenTurn(toolName: string): DshError {
  return new DshError(
    approvalErrors.noOpenTurn,
    `approval.request() outside an open turn (tool "${toolName}"): ask while the turn that needs the answer is running`,
    { name: 'ApprovalError' },
  )
}
