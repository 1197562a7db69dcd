import { DshError } from '@dsh/core'

export const agentErrors = {
  /** No loop row is mounted, so nothing can make an agent. */
  noFactory: 'AGENT_NO_FACTORY',
  duplicateFactory: 'AGENT_DUPLICATE_FACTORY',
  duplicateId: 'AGENT_DUPLICATE_ID',
  /** `runMaintenance` while a turn or another job runs. */
  busy: 'AGENT_BUSY',
  disposed: 'AGENT_DISPOSED',
  invalidOptions: 'AGENT_OPTIONS',
  /** A message of that id waits in a queue already. */
  duplicateMessage: 'INBOX_DUPLICATE_MESSAGE',
  invalidSplice: 'INBOX_INVALID_SPLICE',
} as const

export type AgentErrorCode = (typeof agentErrors)[keyof typeof agentErrors]

export function agentError(code: AgentErrorCode, message: string): DshError {
  return new DshError(code, message, { name: 'AgentError' })
}
