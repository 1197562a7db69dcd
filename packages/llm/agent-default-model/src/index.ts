import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import type { AgentDefaultModel } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    agentDefaultModel: AgentDefaultModel
  }
}

export const name = 'agent-default-model'

export const Config = lazySchema(() =>
  z.strictObject({
    provider: z.string().min(1).default('deepseek-official'),
    model: z.string().min(1).default('deepseek-v4-flash'),
    reasoningEffort: z.string().min(1).optional(),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  ctx.provide('agentDefaultModel', { current: () => config })
}
