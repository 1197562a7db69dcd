import type { Context } from '@dsh/cli/sdk'
import * as z from 'zod'

export const name = 'hello'
export const inject = ['tools', 'systemPrompt']

export const Config = z.strictObject({
  greeting: z.string().min(1).default('Hello'),
})

/** Registrations end with the row: disable it by patch, and the model sees neither the tool nor the section. */
export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  ctx.tools.register({
    name: 'hello',
    description: 'Greets somebody by name.',
    parameters: {
      type: 'object',
      properties: { who: { type: 'string', description: 'Whom to greet.' } },
      required: ['who'],
    },
    output: {
      schema: { type: 'object', properties: { greeting: { type: 'string' } } },
      render: (_args: unknown, value: { greeting: string }) => [{ type: 'text', text: value.greeting }],
    },
    execute: async ({ who }: { who: string }) => ({ greeting: `${config.greeting}, ${who}!` }),
  })
  ctx.systemPrompt.section({
    name: 'hello',
    order: 900,
    text: 'Greet people with the hello tool when they introduce themselves.',
  })
}
