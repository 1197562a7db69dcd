import { type Agent, pluginMessage } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/tools'
import * as z from 'zod'
import { type Chain, callKey, nextLink } from './chain.ts'
import { reminderText } from './reminder.ts'

export const name = 'repeat-tool-reminder'

export const Config = lazySchema(() =>
  z.strictObject({
    /** After so many identical calls in a row a reminder follows the result; the first one is a hint, later ones show the call. */
    thresholds: z.array(z.int().min(2)).min(1).default([3, 5, 8]),
    argumentsPreviewChars: z.int().min(1).default(500),
  }),
)

/** Reminds, never blocks: a call may have a reason to be repeated. */
export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const thresholds = [...config.thresholds].sort((a, b) => a - b)
  const chains = new WeakMap<Agent, Chain>()

  ctx.on('tools/post-execute', async (exec, _result, next) => {
    const decision = await next()
    const { agent, name: tool, arguments: args } = exec
    if (agent === undefined || exec.parent !== undefined) return decision
    const chain = nextLink(chains.get(agent), callKey(tool, args))
    chains.set(agent, chain)
    const { count } = chain
    if (!thresholds.includes(count)) return decision
    const text = reminderText({ tool, count, args }, count === thresholds[0], config.argumentsPreviewChars)
    const notice = pluginMessage(text, {
      plugin: 'repeat-tool-reminder',
      form: 'notice',
      summary: `${tool} × ${count}`,
    })
    return { ...decision, contexts: [...(decision.contexts ?? []), notice] }
  })

  ctx.on('agent/pre-step', async ({ agent, claimed }, next) => {
    if (claimed.some(({ source }) => source.kind === 'user')) chains.delete(agent)
    return next()
  })
}
