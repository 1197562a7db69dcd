import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/system-prompt'
import { guide } from '@dsh/tools'
import * as z from 'zod'
import { Notices } from './notices.ts'
import { jobKill, jobList, jobOutput } from './tools.ts'
import { guidance } from './words.ts'

export const name = 'tool-jobs'
export const inject = ['tools', 'jobs', 'systemPrompt']
export const Config = lazySchema(() =>
  z
    .strictObject({
      waitTimeoutMs: z.number().positive().default(30_000),
      maxWaitTimeoutMs: z.number().positive().default(600_000),
      completionDelivery: z.enum(['wakeup', 'quiet']).default('wakeup'),
      maxConsecutiveWakes: z.number().int().nonnegative().default(3),
    })
    .refine((config) => config.waitTimeoutMs <= config.maxWaitTimeoutMs, {
      error: ({ input }) => {
        const { waitTimeoutMs, maxWaitTimeoutMs } = input as { waitTimeoutMs: number; maxWaitTimeoutMs: number }
        return `tool-jobs: waitTimeoutMs (${waitTimeoutMs}) exceeds maxWaitTimeoutMs (${maxWaitTimeoutMs})`
      },
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const { jobs, tools } = ctx
  ctx.tools.register(jobOutput(jobs, config))
  ctx.tools.register(jobList(jobs))
  ctx.tools.register(jobKill(jobs))
  ctx.jobs.attachController({ serves: (agent) => tools.get('job_output', agent) !== undefined })
  guide(ctx, { tool: 'job_output', section: 'tool:jobs', order: 106, text: () => guidance })

  const notices = new Notices({
    delivery: config.completionDelivery,
    maxConsecutiveWakes: config.maxConsecutiveWakes,
  })
  ctx.on('jobs/finished', (agent, job) => notices.finished(agent, job))
  ctx.on('agent/inbox/claimed', (agent, messages) => notices.claimed(agent, messages))
}
