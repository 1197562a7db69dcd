import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { SystemPrompt } from './service.ts'
import type { SystemPromptService } from './types.ts'

export { clearedContext } from './assembly.ts'
export { promptErrors } from './errors.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    systemPrompt: SystemPromptService
  }
}

export const name = 'system-prompt'

export const Config = lazySchema(() =>
  z.strictObject({
    /** Who the model is and where; `{{provider}}`, `{{model}}` and `{{cwd}}` are filled in. */
    persona: z.string().default(''),
    /** The persona is the whole prompt: no identity line, no section of any other row. */
    complete: z.boolean().default(false),
    /** With `complete`: whether the runtime-context snapshot is still sent. */
    includeRuntimeContext: z.boolean().default(true),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const service = new SystemPrompt(ctx)
  service.section({
    name: 'harness:identity',
    order: -100,
    text: 'You are an AI agent powered by dsh.',
  })
  service.section({
    name: 'deployment:persona',
    order: 0,
    text: config.persona,
    ...(config.complete ? { complete: true, includeRuntimeContext: config.includeRuntimeContext } : {}),
  })
}
