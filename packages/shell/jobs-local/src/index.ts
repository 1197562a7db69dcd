import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { Jobs } from './service.ts'
import type { JobFacts, JobsService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    jobs: JobsService
  }
  /** Facts about an agent's jobs are dispatched on its scope. */
  interface Events {
    /** A job settled and nobody was told yet: not by a read, a wait, a kill or a teardown. */
    'jobs/finished'(agent: Agent, job: JobFacts): void
    'jobs/changed'(agent: Agent): void
    /** A controller came or went: whether background work can be offered may have changed. */
    'jobs/controllers'(): void
  }
}

export const name = 'jobs-local'
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Running jobs an agent may have at a time. */
      maxPerOwner: z.number().int().positive().default(10),
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const jobs = new Jobs(ctx, config.maxPerOwner)
  ctx.effect(() => () => jobs.close())
}
