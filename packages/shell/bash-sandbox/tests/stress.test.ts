import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import type { SandboxMode } from '@dsh/sandbox'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import type { ShellService } from '@dsh/shell'
import * as subprocess from '@dsh/subprocess-local'
import { has } from '@dsh/testkit'
import { afterAll, describe, expect, it, vi } from 'vitest'
import * as bashSandbox from '../src/index.ts'

const long = process.env['DSH_LONG'] === '1'
const counts = long ? { commands: 1000, bytes: 2_000_000_000 } : { commands: 60, bytes: 300_000_000 }

const dirs = [mkdtempSync('/var/tmp/dsh-home-'), mkdtempSync(join(tmpdir(), 'dsh-ws-'))].map((dir) => realpathSync(dir))
const [home = '', root = ''] = dirs
const ctx = new Context()
ctx.provide('dshHomePath', (...parts: string[]) => join(home, ...parts))
await ctx.plugin(subprocess)
await ctx.plugin(sandboxLocal, {} as never)
await ctx.plugin(sandboxPolicy, { mode: 'workspace-write', workspaceRoot: root } as never)
await ctx.plugin(bashSandbox, {} as never)
const shell = ctx.get('shell') as ShellService
afterAll(async () => {
  await ctx.fiber.dispose()
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

const run = async (command: string, mode: SandboxMode) =>
  shell.run(await shell.resolve({ command, policy: { mode, workspaceRoot: root } }))
const descriptors = () => readdirSync('/proc/self/fd').length
const leftInTmp = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`dsh-pipes-${process.pid}-`))
const captures = () =>
  readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.name.endsWith('.log'))
const zombies = () =>
  spawnSync('ps', ['--ppid', String(process.pid), '-o', 'stat=,args='], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.startsWith('Z'))

const modes: SandboxMode[] = ['danger-full-access', ...(has('bubblewrap') ? (['workspace-write'] as const) : [])]
describe.each(modes)('under strain, %s', (mode) => {
  it(`${counts.commands} quick commands leave nothing behind`, { timeout: 600_000 }, async () => {
    for (let i = 0; i < 20; i++) await run('true', mode)
    const before = descriptors()
    for (let i = 0; i < counts.commands; i++) {
      const outcome = await run(`echo ${i}`, mode)
      if (outcome.stdout.text !== `${i}\n`) throw new Error(JSON.stringify(outcome))
    }
    // A batch of pipes may be in the making: a process, a directory and descriptors of their own for a moment.
    await vi.waitFor(() => {
      expect(descriptors()).toBeLessThanOrEqual(before + 40)
      expect(zombies()).toEqual([])
      expect(leftInTmp()).toEqual([])
      expect(captures()).toEqual([])
    }, 15_000)
  })

  it(`${counts.bytes / 1e6} MB of output neither fill memory nor stay on disk`, { timeout: 600_000 }, async () => {
    await run('true', mode)
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 20)
    const outcome = await run(`yes | head -c ${counts.bytes}`, mode)
    clearInterval(watch)
    expect(outcome).toMatchObject({ exitCode: 0, stdout: { bytes: counts.bytes, truncated: true } })
    expect(outcome.stdout.spillPath).toBeUndefined()
    // What a garbage collector leaves lying around differs by version of Node; half of the output would be held.
    expect((peak - before) / 1e6).toBeLessThan(150)
    if (!long) return
    const pure = performance.now()
    spawnSync('/bin/bash', ['-c', `yes | head -c ${counts.bytes} | cat > /dev/null`])
    const pureMs = performance.now() - pure
    console.log(`${mode}: ${Math.round(outcome.durationMs)} ms, into cat ${Math.round(pureMs)} ms`)
  })

  it('a child that ignores TERM is gone after the grace', { timeout: 60_000 }, async () => {
    const spec = await shell.resolve({
      command: "trap '' TERM; echo ready; while :; do sleep .2; done",
      timeoutMs: 800,
      policy: { mode, workspaceRoot: root },
    })
    const outcome = await shell.run(spec)
    expect(outcome).toMatchObject({ timedOut: true, signal: 'SIGKILL', stdout: { text: 'ready\n' } })
    expect(outcome.durationMs).toBeLessThan(15_000)
  })
})
