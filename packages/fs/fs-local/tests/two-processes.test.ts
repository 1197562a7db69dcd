import { spawn } from 'node:child_process'
import * as nodeFs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'
import { parseCounter, renderCounter } from './counter.ts'

const rounds = process.env['DSH_LONG'] === undefined ? 15 : 150

it('two processes with ten calls each lose no update and read nothing torn', { timeout: 300_000 }, async () => {
  const top = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'dsh-hammer-')))
  try {
    const child = join(top, 'child.mjs')
    buildSync({
      entryPoints: [fileURLToPath(new URL('./hammer-child.ts', import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: child,
      logLevel: 'silent',
    })
    const file = join(top, 'counter')
    nodeFs.writeFileSync(file, renderCounter(0))
    const results = await Promise.all([0, 1].map(() => run(child, [file, join(top, 'state'), String(rounds)])))
    const won = results.reduce((sum, result) => sum + result.won, 0)
    expect(parseCounter(nodeFs.readFileSync(file, 'utf8'))).toBe(won)
    expect(won).toBeGreaterThanOrEqual(rounds)
    expect(results.reduce((sum, result) => sum + result.stale, 0)).toBe(2 * 10 * rounds - won)
    expect(nodeFs.readdirSync(top).filter((name) => name.endsWith('.tmpdir'))).toEqual([])
  } finally {
    nodeFs.rmSync(top, { recursive: true, force: true })
  }
})

function run(script: string, args: readonly string[]): Promise<{ won: number; stale: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let problems = ''
    child.stdout.on('data', (data) => {
      out += data
    })
    child.stderr.on('data', (data) => {
      problems += data
    })
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out))
      else reject(new Error(problems))
    })
  })
}
