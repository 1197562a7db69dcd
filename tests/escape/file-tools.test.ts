import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import { isDshError } from '@dsh/core'
import * as fsSandbox from '@dsh/fs-sandbox'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import { afterEach, beforeEach, expect, it } from 'vitest'

/** What a file tool is made to do while something swaps directories under it, as fast as it can. */
let base: string
const at = (...parts: string[]) => join(base, ...parts)
beforeEach(() => {
  base = mkdtempSync('/var/tmp/dsh-swap-')
  for (const name of ['w/d', 'out']) mkdirSync(at(name), { recursive: true })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function fence() {
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => at('home', ...parts))
  await ctx.plugin(sandboxPolicy, sandboxPolicy.Config.parse({ mode: 'workspace-write', workspaceRoot: at('w') }))
  await ctx.plugin(fsSandbox, fsSandbox.Config.parse({}))
  return ctx
}

const numbers: Partial<Record<string, number>> = { x64: 316, arm64: 276 }
const renameat2 = process.platform === 'linux' ? numbers[process.arch] : undefined
const canSwap = renameat2 !== undefined && spawnSync('perl', ['-v']).status === 0

/** Exchanges `w/d` with a link to a directory outside, in one system call, over and over. */
function swap(): () => void {
  symlinkSync('../out', at('w/l'))
  const script = `chdir ${JSON.stringify(at('w'))}; my ($d, $l) = ("d", "l"); while (1) { syscall(${renameat2}, -100, $d, -100, $l, 2) }`
  const child = spawn('perl', ['-e', script], { stdio: 'ignore' })
  return () => child.kill('SIGKILL')
}

it.skipIf(!canSwap)(
  'a directory that is swapped for a link out of the workspace takes no file along',
  async () => {
    const ctx = await fence()
    writeFileSync(at('out/victim'), 'before\n')
    const stop = swap()
    const rounds = process.env['DSH_LONG'] === undefined ? 400 : 4000
    const codes = new Map<string, number>()
    const attempt = async (work: () => Promise<unknown>) => {
      const code = await work().then(
        () => 'done',
        (error: unknown) => (isDshError(error) ? error.code : String(error)),
      )
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    try {
      for (let round = 0; round < rounds; round++) {
        const resolve = (name: string) => ctx.fs.resolve(name, { cwd: at('w') })
        await attempt(async () => ctx.fs.writeText(await resolve(`d/f${round}`), 'x', { kind: 'createIfAbsent' }))
        await attempt(async () => ctx.fs.writeText(await resolve('d/victim'), 'x'))
        await attempt(async () => ctx.fs.deleteFile(await resolve('d/victim')))
      }
    } finally {
      stop()
    }
    expect(
      [...codes.keys()].every((code) => code === 'done' || code.startsWith('FS_')),
      JSON.stringify([...codes]),
    ).toBe(true)
    expect(codes.size).toBeGreaterThan(1)
    expect(readdirSync(at('out'))).toEqual(['victim'])
    expect(readFileSync(at('out/victim'), 'utf8')).toBe('before\n')
  },
  120_000,
)

it.skipIf(process.platform !== 'linux' || process.geteuid?.() === 0)(
  'a directory that cannot be listed can be written to',
  async () => {
    const ctx = await fence()
    chmodSync(at('w/d'), 0o300)
    await ctx.fs.writeText(await ctx.fs.resolve('d/f', { cwd: at('w') }), 'x', { kind: 'createIfAbsent' })
    chmodSync(at('w/d'), 0o700)
    expect(readdirSync(at('w/d'))).toEqual(['f'])
  },
)
