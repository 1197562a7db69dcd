import type { Agent } from '@dsh/agent'
import type { ApprovalOutcome, ApprovalRequest, ApprovalService } from '@dsh/user-approval'
import { describe, expect, it } from 'vitest'
import { type EscalationRequest, resolveEscalation, type SandboxMode, type SandboxPolicy } from '../src/index.ts'

const agent = {} as Agent

function answering(outcome: ApprovalOutcome, note?: string) {
  const asked: ApprovalRequest[] = []
  const approval = {
    ask: async (request: ApprovalRequest) => {
      asked.push(request)
      return { outcome, ...(note === undefined ? {} : { note }) }
    },
  } as unknown as ApprovalService
  return { approval, asked }
}

const policyOf = (mode: SandboxMode): SandboxPolicy => ({ mode, workspaceRoot: '/w', sessionId: 's' })

function request(
  args: EscalationRequest['args'],
  rest: Partial<EscalationRequest> = {},
): EscalationRequest<SandboxPolicy> {
  return {
    args,
    policy: policyOf('workspace-write'),
    confines: true,
    noun: 'command',
    toolName: 'bash',
    agent,
    approval: answering('rejected').approval,
    ...rest,
  }
}
const why = 'because I must'
const full = 'danger-full-access'

describe('a call without a request for more', () => {
  it('runs under the standing policy', async () => {
    const policy = policyOf('read-only')
    expect(await resolveEscalation(request({}, { policy }))).toBe(policy)
    expect(await resolveEscalation(request({ justification: ' ' }, { policy }))).toBe(policy)
    expect(await resolveEscalation(request({ sandbox_permissions: null, justification: null }, { policy }))).toBe(
      policy,
    )
  })

  it('is refused when it justifies nothing', async () => {
    await expect(resolveEscalation(request({ justification: why }))).rejects.toThrow(
      'invalid escalation: justification is only valid together with sandbox_permissions',
    )
  })

  it('does nothing when the mode asked for is the mode in force', async () => {
    const { approval, asked } = answering('rejected')
    const policy = policyOf('workspace-write')
    for (const justification of [undefined, '', why])
      expect(
        await resolveEscalation(
          request({ sandbox_permissions: 'workspace-write', justification }, { policy, approval }),
        ),
      ).toBe(policy)
    expect(asked).toEqual([])
  })
})

describe('a malformed escalation', () => {
  it.each([
    [undefined, 'invalid escalation: sandbox_permissions requires a justification'],
    ['  ', 'invalid justification: expected a non-empty sentence'],
  ])('with the justification %j is refused before anyone is asked', async (justification, text) => {
    const { approval, asked } = answering('allowed-once')
    await expect(
      resolveEscalation(request({ sandbox_permissions: full, justification }, { approval })),
    ).rejects.toThrow(text)
    expect(asked).toEqual([])
  })

  it('to a narrower mode is refused before anyone is asked', async () => {
    const { approval, asked } = answering('allowed-once')
    const args = { sandbox_permissions: 'workspace-write', justification: why } as const
    await expect(resolveEscalation(request(args, { policy: policyOf(full), approval }))).rejects.toThrow(
      `sandbox escalation to "workspace-write" is not strictly wider than this call's current "danger-full-access" mode`,
    )
    expect(asked).toEqual([])
  })

  it.each([
    ['command', 'executor'],
    ['operation', 'filesystem'],
  ] as const)('of a %s is refused where nothing confines', async (noun, backend) => {
    const args = { sandbox_permissions: full, justification: why } as const
    for (const policy of [policyOf('read-only'), undefined])
      await expect(resolveEscalation({ ...request(args), policy, confines: false, noun })).rejects.toThrow(
        `sandbox_permissions is not available in this composition (no sandboxing ${backend} to escalate)`,
      )
  })
})

describe('an escalation to a wider mode', () => {
  const args = { sandbox_permissions: full, justification: `  ${why} ` } as const

  it('runs this one call wider, in the same root, once a person allows it', async () => {
    const { approval, asked } = answering('allowed-once')
    const standing = policyOf('workspace-write')
    const granted = await resolveEscalation(
      request(args, { approval, policy: standing, callId: 'c1', subject: { command: 'make install' } }),
    )
    expect(granted).toEqual({ ...standing, mode: full })
    expect(standing.mode).toBe('workspace-write')
    expect(asked).toEqual([
      {
        agent,
        toolName: 'bash',
        callId: 'c1',
        reason: `escalate sandbox to danger-full-access: ${why}`,
        subject: { command: 'make install', mode: full, justification: why },
      },
    ])
  })

  it.each([
    ['rejected', 'command', `the user rejected escalating this command to "${full}"`],
    ['rejected', 'operation', `the user rejected escalating this operation to "${full}"`],
    ['cancelled', 'command', `approval for escalating to "${full}" was cancelled`],
    [
      'unavailable',
      'command',
      `sandbox escalation to "${full}" requires approval, but no approval channel is available`,
    ],
  ] as const)('that is %s fails the %s', async (outcome, noun, text) => {
    await expect(resolveEscalation(request(args, { approval: answering(outcome).approval, noun }))).rejects.toThrow(
      new Error(text),
    )
  })

  it('hands the reason of a rejection to the model on a second line', async () => {
    const { approval } = answering('rejected', 'use a scratch directory')
    await expect(resolveEscalation(request(args, { approval }))).rejects.toThrow(
      new Error(`the user rejected escalating this command to "${full}"\nuse a scratch directory`),
    )
  })

  it('fails closed without a service, without an agent, and on an answer outside the vocabulary', async () => {
    await expect(resolveEscalation(request(args, { approval: undefined }))).rejects.toThrow(
      `sandbox escalation to "${full}" requires approval, but no approval service is composed`,
    )
    await expect(resolveEscalation(request(args, { agent: undefined }))).rejects.toThrow(
      `sandbox escalation to "${full}" requires approval, but the call has no agent to route it through`,
    )
    const { approval } = answering('yes' as ApprovalOutcome)
    await expect(resolveEscalation(request(args, { approval }))).rejects.toThrow('unhandled case')
  })
})
