import { findBash } from '@dsh/bash-local'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import type {} from '@dsh/sandbox'
import type {} from '@dsh/shell-env'
import type {} from '@dsh/subprocess'
import * as z from 'zod'
import { Shells } from './shells.ts'
import { persistentBash } from './tool.ts'
import { defaultDescription } from './words.ts'

export const name = 'tool-bash-persistent'
export const inject = ['tools', 'sandbox', 'sandboxPolicy', 'subprocess']
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** A command that takes longer ends the shell. */
      timeoutMs: z.number().positive().default(300_000),
      /** UTF-16 units of one output; the head is kept. */
      maxOutputChars: z.number().int().positive().default(16_000),
      description: z.string().min(1).default(defaultDescription),
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const { subprocess, sandbox, sandboxPolicy } = ctx
  const home = ctx.get('dshHomePath')
  if (home === undefined) throw new Error('tool-bash-persistent: the launcher must provide ctx.dshHomePath')

  const { workspaceRoot, writableRoots = [] } = sandboxPolicy.resolve()
  const shells = new Shells({
    bash: findBash(subprocess, [process.cwd(), workspaceRoot, ...writableRoots]),
    root: home('spill', 'shells'),
    sandbox,
    detachedMark: () => subprocess.detachedMark(),
    policyOf: (agent) => sandboxPolicy.resolve({ session: agent.session }),
    envOf: (agent) => ({
      ...subprocess.baseEnv(),
      NO_COLOR: '1',
      TERM: 'dumb',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      ...ctx.get('shellEnv')?.collect({ sessionId: agent.session.id }),
    }),
  })
  ctx.effect(() => () => shells.close())
  ctx.tools.register(persistentBash(shells, config))
}
