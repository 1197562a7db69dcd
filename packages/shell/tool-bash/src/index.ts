import { type Context, FiberPhase } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/jobs-local'
import type { Session } from '@dsh/session'
import type {} from '@dsh/system-prompt'
import { guide } from '@dsh/tools'
import * as z from 'zod'
import { type BashDeps, bashTool } from './bash.ts'
import { guidance } from './description.ts'

export const name = 'tool-bash'
export const inject = ['tools', 'shell', 'systemPrompt', 'shellEnv']
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Whether background commands are offered where the composition has jobs. */
      enableRunInBackground: z.boolean().default(true),
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const { shell, shellEnv } = ctx
  const confined = shell.sandboxMode !== undefined
  const deps: BashDeps = {
    shell,
    shellEnv,
    sandboxPolicy: () => ctx.get('sandboxPolicy'),
    approval: () => ctx.get('approval'),
    jobs: () => ctx.get('jobs'),
    sessionPath: (session) => sessionPath(ctx, session),
    enableRunInBackground: config.enableRunInBackground,
  }

  let offered: boolean | undefined
  let withdraw: (() => void) | undefined
  /** The text follows the composition: it speaks of background jobs only while an agent could follow one. */
  const offer = () => {
    const background = config.enableRunInBackground && ctx.get('jobs')?.hasController(undefined) === true
    if (background === offered || ctx.fiber.state === FiberPhase.unloading) return
    withdraw?.()
    withdraw = ctx.tools.register(bashTool(deps, { background, confined }))
    offered = background
  }
  offer()
  ctx.on('jobs/controllers', offer)

  guide(ctx, { tool: 'bash', order: 105, text: () => guidance })
}

function sessionPath(ctx: Context, session: Session): string | undefined {
  if (ctx.get('sessions')?.isEphemeral(session.id)) return undefined
  return ctx.get('sessionPersistence')?.pathOf(session.header)
}
