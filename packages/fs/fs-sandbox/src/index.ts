import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import { createLocalFs, stateDirOf } from '@dsh/fs-local'
import type {} from '@dsh/sandbox'
import * as z from 'zod'
import { fenced } from './fence.ts'

export const name = 'fs-sandbox'
export const inject = ['sandboxPolicy']

export const Config = lazySchema(() =>
  z.strictObject({
    /** For relative paths of callers without a directory of their own. Default: the process's. */
    cwd: z.string().optional(),
    diffBasisMaxBytes: z.number().default(10 * 1024 * 1024),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const inner = createLocalFs({ ...config, stateDir: stateDirOf(ctx) })
  ctx.effect(() => () => inner.close())
  ctx.provide('fs', fenced(inner, ctx.sandboxPolicy))
}
