import type { FsService } from '@dsh/fs'
import {
  type EscalationArgs,
  escalationParameters,
  resolveEscalation,
  type SandboxPolicy,
  type SandboxPolicyService,
} from '@dsh/sandbox'
import type { JsonSchema, ToolExecution } from '@dsh/tools'
import type { ApprovalService } from '@dsh/user-approval'

/** The two fields, where the mounted backend confines. */
export function escalationFields(fs: FsService): { readonly [name: string]: JsonSchema } {
  return fs.sandboxMode === undefined ? {} : escalationParameters('operation')
}

export interface PolicyServices {
  readonly fs: FsService
  readonly policies: SandboxPolicyService | undefined
  readonly approval: ApprovalService | undefined
}

/** The policy of one mutation; undefined under a backend that does not confine. */
export async function callPolicy(
  args: EscalationArgs,
  exec: ToolExecution,
  path: string,
  services: PolicyServices,
): Promise<SandboxPolicy | undefined> {
  const confines = services.fs.sandboxMode !== undefined
  const policy = confines ? services.policies?.resolve({ session: exec.agent?.session }) : undefined
  return await resolveEscalation({
    args,
    policy,
    confines,
    noun: 'operation',
    toolName: exec.name,
    callId: exec.callId,
    agent: exec.agent,
    approval: services.approval,
    subject: { path },
    signal: exec.signal,
  })
}
