import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import * as z from 'zod'
import { createLocalFs } from './local-fs.ts'

export {
  containsPath,
  createLocalFs,
  diffBasisCeiling,
  diffBasisDefault,
  type LocalFs,
  type LocalFsOptions,
} from './local-fs.ts'
export { nodeSyscalls, type Syscalls } from './syscalls.ts'

export const name = 'fs-local'

export const Config = lazySchema(() =>
  z.strictObject({
    /** For relative paths of callers without a directory of their own. Default: the process's. */
    cwd: z.string().optional(),
    diffBasisMaxBytes: z.number().default(10 * 1024 * 1024),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const fs = createLocalFs({ ...config, stateDir: stateDirOf(ctx) })
  ctx.effect(() => () => fs.close())
  ctx.provide('fs', fs)
}

/** Where file backends keep what their processes must know about each other. */
export function stateDirOf(ctx: Context): string | undefined {
  return ctx.get('dshHomePath')?.('run', 'fs')
}
