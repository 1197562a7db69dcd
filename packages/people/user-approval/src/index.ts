import { randomUUID } from 'node:crypto'
import type { Agent } from '@dsh/agent'
import { type Context, scopeTarget } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type { UserMessage } from '@dsh/llm'
import type {} from '@dsh/system-prompt'
import * as z from 'zod'
import { ask } from './ask.ts'
import { assertPolicy, policyOverride, policyStatement } from './policy.ts'
import type { ApprovalAnswer, ApprovalPolicy, ApprovalRequest, ApprovalService } from './types.ts'

export { approvalErrors } from './errors.ts'
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

export const name = 'user-approval'

export const Config = lazySchema(() =>
  z.strictObject({
    /** `never` refuses without asking anybody. A session may override it. */
    policy: z.enum(['ask', 'never']).default('ask'),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const policyOf: ApprovalService['policyOf'] = (session) => policyOverride(session) ?? config.policy
  const service: ApprovalService = {
    defaultPolicy: config.policy,
    policyOf,
    overrideOf: policyOverride,
    async request(request) {
      return (await service.ask(request)).outcome
    },
    ask: (request) =>
      ask(request, {
        policy: policyOf(request.agent.session),
        answer: (asked) =>
          ctx.waterfall(scopeTarget(asked.agent), 'approval/request', asked, async () => 'unavailable' as const),
        report: (error) => ctx.logger.warn(error),
      }),
    setPolicy(agent, policy) {
      assertPolicy(policy)
      const { session } = agent
      if (policyOverride(session) === policy) return
      const before = policyOf(session)
      session.append('approval/policy', { policy })
      if (before !== policy) agent.inject(changeNotice(before, policy))
    },
  }
  ctx.provide('approval', service)

  const someoneAnswers = (agent: Agent): boolean =>
    ctx.events.dispatch('waterfall', [scopeTarget(agent), 'approval/request']).length > 0
  ctx.inject(['systemPrompt'], async (inner) => {
    inner.systemPrompt.context({
      name: 'approval:policy',
      order: 115,
      text: (agent) => policyStatement(policyOf(agent.session), someoneAnswers(agent)),
    })
  })
}

/** Tells the model that the rule it read earlier is no longer the rule. */
function changeNotice(before: ApprovalPolicy, after: ApprovalPolicy): UserMessage {
  const text = `The approval policy changed from "${before}" to "${after}" (changed by the user).`
  return {
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: '@dsh/user-approval' },
    role: 'user',
    id: randomUUID(),
  }
}
