import { existsSync, mkdirSync, mkdtempSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import * as subprocess from '@dsh/subprocess-local'
import { describe, expect, it } from 'vitest'
import { shellContract } from '../../shell/tests/contract.ts'
import { captureDirectory } from '../src/captures.ts'
import * as bashLocal from '../src/index.ts'

async function mount(home: string) {
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => join(home, ...parts))
  await ctx.plugin(subprocess)
  await ctx.plugin(bashLocal, {} as never)
  return ctx
}

shellContract('bash-local', async (home) => {
  const ctx = await mount(home)
  return {
    shell: ctx.get('shell') as never,
    policy: (workspaceRoot) => ({ mode: 'danger-full-access', workspaceRoot }),
    dispose: () => ctx.fiber.dispose(),
  }
})

describe('bash-local', () => {
  it('does not claim to confine', async () => {
    const ctx = await mount(mkdtempSync(join(tmpdir(), 'dsh-home-')))
    expect(ctx.get('shell')?.sandboxMode).toBeUndefined()
    await ctx.fiber.dispose()
  })

  it.each([
    [{ timeoutMs: -1 }, 'bash-local: timeoutMs must be a positive finite number'],
    [{ maxOutputBytes: '5' }, 'bash-local: maxOutputBytes must be a positive finite number'],
    [{ graceMs: 3e9 }, 'bash-local: graceMs must be no greater than 2147483647'],
  ])('refuses the config %j by field', (config, message) => {
    expect(bashLocal.Config.safeParse(config).error?.issues[0]?.message).toBe(message)
  })
})

describe('the directory of capture files', () => {
  it('is removed with the row, and forgets what is older than a week', async () => {
    const root = mkdtempSync(join(tmpdir(), 'dsh-captures-'))
    const [old, young] = [join(root, 'old'), join(root, 'young')]
    mkdirSync(old)
    mkdirSync(young)
    const eightDaysAgo = (Date.now() - 8 * 24 * 3_600_000) / 1000
    utimesSync(old, eightDaysAgo, eightDaysAgo)
    const own = captureDirectory(root)
    mkdirSync(own.dir)
    await own.sweepOld()
    expect([existsSync(old), existsSync(young), existsSync(own.dir)]).toEqual([false, true, true])
    await own.remove()
    expect(existsSync(own.dir)).toBe(false)
  })
})
