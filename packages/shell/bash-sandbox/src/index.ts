import { findBash, type Launcher, launchPlain, mountShell, type ShellConfig, shellConfig } from '@dsh/bash-local'
import type { Context } from '@dsh/cordis'
import { confinedLaunch } from './confined.ts'

export const name = 'bash-sandbox'
export const inject = ['subprocess', 'sandbox', 'sandboxPolicy']
export const Config = shellConfig(name)

export async function apply(ctx: Context, config: ShellConfig): Promise<void> {
  const { subprocess, sandbox, sandboxPolicy } = ctx
  const cwd = config.cwd ?? process.cwd()
  const { workspaceRoot, writableRoots = [] } = sandboxPolicy.resolve()

  /** Full access is the one mode that consults no sandbox. */
  const launch: Launcher = async (argv, spec) => {
    if (spec.policy.mode === 'danger-full-access') {
      const plain = await launchPlain(argv, spec)
      const sandboxFacts = { mode: spec.policy.mode, denied: false }
      return { ...plain, judge: (settled, stopped) => ({ ...plain.judge(settled, stopped), sandbox: sandboxFacts }) }
    }
    const confined = await sandbox.confine({ argv, policy: spec.policy, cwd: spec.workdir })
    return confinedLaunch(confined, spec.policy.mode)
  }

  mountShell(ctx, {
    subprocess,
    config,
    bash: findBash(subprocess, [cwd, workspaceRoot, ...writableRoots]),
    launch,
    sandboxMode: sandboxPolicy.defaultMode,
    defaultPolicy: () => sandboxPolicy.resolve(),
  })
}
