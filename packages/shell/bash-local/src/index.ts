import type { Context } from '@dsh/cordis'
import { type ShellConfig, shellConfig } from './config.ts'
import { findBash } from './find-bash.ts'
import { launchPlain } from './launch.ts'
import { mountShell } from './mount.ts'

export { type ShellConfig, shellConfig } from './config.ts'
export type { ExecutorOptions } from './executor.ts'
export { findBash } from './find-bash.ts'
export { type Launch, type Launcher, launchPlain, type Verdict } from './launch.ts'
export { mountShell } from './mount.ts'

export const name = 'bash-local'
export const inject = ['subprocess']
export const Config = shellConfig(name)

export async function apply(ctx: Context, config: ShellConfig): Promise<void> {
  const cwd = config.cwd ?? process.cwd()
  mountShell(ctx, {
    subprocess: ctx.subprocess,
    config,
    bash: findBash(ctx.subprocess, [cwd]),
    launch: launchPlain,
    sandboxMode: undefined,
    defaultPolicy: (base) => ({ mode: 'danger-full-access', workspaceRoot: base ?? cwd }),
  })
}
