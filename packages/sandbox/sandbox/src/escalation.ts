import type { Agent } from '@dsh/agent'
import { assertNever } from '@dsh/core'
import type { ApprovalRequest, ApprovalService } from '@dsh/user-approval'
import type { EscalationNoun } from './markers.ts'
import { isWider } from './modes.ts'
import type { SandboxMode, SandboxPolicy } from './types.ts'

export type EscalationMode = Exclude<SandboxMode, 'read-only'>

/** The two fields as the model sends them, after the schema check. */
export interface EscalationArgs {
  readonly sandbox_permissions?: EscalationMode | null
  readonly justification?: string | null
}

export interface EscalationRequest<P extends SandboxPolicy | undefined = SandboxPolicy> {
  readonly args: EscalationArgs
  /** The standing policy of this call. */
  readonly policy: P
  /** Whether the executor or file backend confines at all. */
  readonly confines: boolean
  readonly noun: EscalationNoun
  readonly toolName: string
  readonly callId?: string
  readonly agent: Agent | undefined
  readonly approval: ApprovalService | undefined
  /** The exact command or path, for the person who answers. */
  readonly subject?: ApprovalRequest['subject']
  readonly signal?: AbortSignal
}

const backend = { command: 'executor', operation: 'filesystem' } as const
const subjectOf = { command: 'command', operation: 'file operation' } as const

/** The JSON Schema of the two fields, to be spread into a tool's `properties` where its backend confines. */
export function escalationParameters(noun: EscalationNoun) {
  const denied = noun === 'command' ? 'a command' : 'an operation'
  return {
    sandbox_permissions: {
      type: 'string',
      description: `The wider sandbox mode this ${subjectOf[noun]} needs. Only valid as a one-shot retry of ${denied} the sandbox just denied; requires justification and user approval.`,
      enum: ['workspace-write', 'danger-full-access'],
    },
    justification: {
      type: 'string',
      description: `Required with sandbox_permissions: one sentence for the user explaining why this exact ${subjectOf[noun]} needs the wider access, in the language of the user's current request.`,
    },
  } as const
}

/**
 * The policy of this one call: the standing one, or the wider one that a person just allowed. Throws with the
 * text for the model otherwise; nothing may have run before it.
 */
export async function resolveEscalation<P extends SandboxPolicy | undefined>(
  request: EscalationRequest<P>,
): Promise<P | SandboxPolicy> {
  const { policy } = request
  const mode = request.args.sandbox_permissions ?? undefined
  const given = request.args.justification ?? undefined
  const justification = given?.trim()

  if (mode === undefined) {
    if (justification)
      throw new Error('invalid escalation: justification is only valid together with sandbox_permissions')
    return policy
  }
  if (request.confines && mode === policy?.mode) return policy
  if (given === undefined) throw new Error('invalid escalation: sandbox_permissions requires a justification')
  if (!justification) throw new Error('invalid justification: expected a non-empty sentence')
  if (!request.confines || policy === undefined)
    throw new Error(
      `sandbox_permissions is not available in this composition (no sandboxing ${backend[request.noun]} to escalate)`,
    )
  if (!isWider(policy.mode, mode))
    throw new Error(
      `sandbox escalation to "${mode}" is not strictly wider than this call's current "${policy.mode}" mode`,
    )
  await askFor(mode, justification, request)
  return { ...policy, mode }
}

async function askFor(
  mode: EscalationMode,
  justification: string,
  request: EscalationRequest<SandboxPolicy | undefined>,
): Promise<void> {
  const { approval, agent, signal, noun } = request
  const requires = `sandbox escalation to "${mode}" requires approval, but`
  if (approval === undefined) throw new Error(`${requires} no approval service is composed`)
  if (agent === undefined) throw new Error(`${requires} the call has no agent to route it through`)

  const { outcome, note } = await approval.ask({
    agent,
    toolName: request.toolName,
    reason: `escalate sandbox to ${mode}: ${justification}`,
    subject: { ...request.subject, mode, justification },
    ...(request.callId === undefined ? {} : { callId: request.callId }),
    ...(signal === undefined ? {} : { signal }),
  })
  switch (outcome) {
    case 'allowed-once':
      return
    case 'rejected':
      throw new Error(`the user rejected escalating this ${noun} to "${mode}"${note ? `\n${note}` : ''}`)
    case 'cancelled':
      throw new Error(`approval for escalating to "${mode}" was cancelled`)
    case 'unavailable':
      throw new Error(`${requires} no approval channel is available`)
    default:
      return assertNever(outcome)
  }
}
