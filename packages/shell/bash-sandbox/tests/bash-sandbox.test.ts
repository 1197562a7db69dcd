import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import type { ShellService } from '@dsh/shell'
import * as subprocess from '@dsh/subprocess-local'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { shellContract } from '../../shell/tests/contract.ts'
import * as bashSandbox from '../src/index.ts'

async function mount(home: string, root: string, config: object = {}, policy: object = {}) {
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => join(home, ...parts))
  await ctx.plugin(subprocess)
  await ctx.plugin(sandboxLocal, config as never)
  await ctx.plugin(sandboxPolicy, { mode: 'workspace-write', workspaceRoot: root, ...policy } as never)
  await ctx.plugin(bashSandbox, {} as never)
  return ctx
}
const made: string[] = []
const temp = (label: string, parent = tmpdir()) => {
  const dir = realpathSync(mkdtempSync(join(parent, label)))
  made.push(dir)
  return dir
}
/** Not below a temporary directory: confined commands may change those, so no launcher is trusted there. */
const tempHome = () => temp('dsh-home-', '/var/tmp')
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})
const shellOf = (ctx: Context) => ctx.get('shell') as ShellService

async function isUsable(rung: string): Promise<boolean> {
  const ctx = await mount(tempHome(), temp('dsh-ws-'), { rungs: [rung] })
  const report = await ctx.get('sandbox')?.report()
  await ctx.fiber.dispose()
  return report?.rung === rung
}

for (const rung of ['bwrap', 'landlock']) {
  describe.skipIf(!(await isUsable(rung)))(`with ${rung}`, () => {
    shellContract(`bash-sandbox under ${rung}`, async (home) => {
      const ctx = await mount(home, temp('dsh-ws-'), { rungs: [rung] })
      return {
        shell: shellOf(ctx),
        policy: (workspaceRoot) => ({ mode: 'workspace-write', workspaceRoot }),
        dispose: () => ctx.fiber.dispose(),
      }
    })

    it('denies a write outside the workspace, and says so', async () => {
      const [home, root] = [tempHome(), temp('dsh-ws-')]
      const ctx = await mount(home, root, { rungs: [rung] })
      const shell = shellOf(ctx)
      const target = join(homedir(), `dsh-outside-${process.pid}`)
      const outcome = await shell.run(await shell.resolve({ command: `echo a > ${target}` }))
      expect(outcome).toMatchObject({ exitCode: 1, sandbox: { denied: true, mode: 'workspace-write', rung } })
      expect(existsSync(target)).toBe(false)
      await ctx.fiber.dispose()
    })
  })
}

/** A runner that cannot start what it is given the first `broken` times: the mounts it is told of have gone. */
async function withUnsteadyRunner(broken: number) {
  const root = temp('dsh-ws-')
  let asked = 0
  const confined = {
    statusFd: 3,
    readStatus: (status: string) => ({ ran: status.includes('ran') }),
    enforcement: 'full',
    notCovered: [],
    rung: 'bwrap',
    denialSignatures: [],
    mapsSignalsToExitCodes: true,
  }
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => join(root, ...parts))
  await ctx.plugin(subprocess)
  await ctx.plugin(sandboxPolicy, { mode: 'workspace-write', workspaceRoot: root } as never)
  ctx.provide('sandbox', {
    confine: async ({ argv }: { argv: readonly string[] }) => ({
      ...confined,
      argv:
        asked++ < broken
          ? ['/bin/sh', '-c', 'echo "bwrap: no such socket" >&2; exit 1']
          : ['/bin/sh', '-c', 'echo ran >&3; exec "$@"', 'runner', ...argv],
    }),
  } as never)
  await ctx.plugin(bashSandbox, {} as never)
  const shell = shellOf(ctx)
  const run = async () => await shell.run(await shell.resolve({ command: 'echo once >> log; cat log' }))
  return { run, asked: () => asked, dispose: () => ctx.fiber.dispose() }
}

describe('bash-sandbox', () => {
  it('confines a command anew, once, when the runner could not start it', async () => {
    const unsteady = await withUnsteadyRunner(1)
    expect((await unsteady.run()).stdout.text).toBe('once\n')
    expect(unsteady.asked()).toBe(2)
    await unsteady.dispose()
    const broken = await withUnsteadyRunner(9)
    await expect(broken.run()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(broken.asked()).toBe(2)
    await broken.dispose()
  })

  it('advertises its mode, and full access consults no sandbox', async () => {
    const root = temp('dsh-ws-')
    const ctx = await mount(tempHome(), root, { rungs: [] })
    const shell = shellOf(ctx)
    expect(shell.sandboxMode).toBe('workspace-write')
    const policy = { mode: 'danger-full-access', workspaceRoot: root } as const
    const outcome = await shell.run(await shell.resolve({ command: 'echo free', policy }))
    expect(outcome).toMatchObject({
      stdout: { text: 'free\n' },
      sandbox: { mode: 'danger-full-access', denied: false },
    })
    await ctx.fiber.dispose()
  })

  it('never takes a bash out of a directory that commands may write to', async () => {
    const [root, writable] = [temp('dsh-ws-', '/var/tmp'), temp('dsh-bin-', '/var/tmp')]
    const planted = join(writable, 'bash')
    writeFileSync(planted, '#!/bin/sh\necho planted\n')
    chmodSync(planted, 0o755)
    vi.stubEnv('PATH', `${writable}:${process.env['PATH']}`)
    const policy = { mode: 'danger-full-access', workspaceRoot: root } as const
    for (const [writableRoots, said] of [
      [[], 'planted\n'],
      [[writable], 'own\n'],
    ] as const) {
      const ctx = await mount(tempHome(), root, { rungs: [] }, { writableRoots })
      const shell = shellOf(ctx)
      expect((await shell.run(await shell.resolve({ command: 'echo own', policy }))).stdout.text).toBe(said)
      await ctx.fiber.dispose()
    }
    vi.unstubAllEnvs()
  })

  it('refuses without a rung: the command has no effect, in the foreground and in the background', async () => {
    const root = temp('dsh-ws-')
    const ctx = await mount(tempHome(), root, { rungs: [] })
    const shell = shellOf(ctx)
    const spec = await shell.resolve({ command: 'touch made' })
    await expect(shell.run(spec)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    await expect(shell.start(spec)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(existsSync(join(root, 'made'))).toBe(false)
    await ctx.fiber.dispose()
  })
})
