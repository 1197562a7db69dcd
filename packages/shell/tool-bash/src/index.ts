import type { Context } from '@dsh/cordis'
import type {} from '@dsh/session'
import type {} from '@dsh/shell-env'
import type {} from '@dsh/system-prompt'
import type {} from '@dsh/user-approval'
import * as z from 'zod'
import { bashTool } from './bash.ts'
import { guidance } from './description.ts'

export const name = 'tool-bash'
export const inject = ['tools', 'shell', 'systemPrompt', 'shellEnv']
export const Config = z.strictObject({}).prefault({})

export async function apply(ctx: Context): Promise<void> {
  const { shell, shellEnv, tools } = ctx
  const confined = shell.sandboxMode !== undefined
  const deps = {
    shell,
    shellEnv,
    sandboxPolicy: () => ctx.get('sandboxPolicy'),
    approval: () => ctx.get('approval'),
    persistence: () => ctx.get('sessionPersistence'),
  }
  ctx.tools.register(bashTool(deps, { background: false, confined }))
  ctx.systemPrompt.section({
    name: 'tool:bash',
    order: 105,
    text: (agent) => (tools.get('bash', agent) === undefined ? undefined : guidance),
    literal: true,
  })
}
