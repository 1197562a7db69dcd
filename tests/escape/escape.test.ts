import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attempts } from './attempts.ts'
import type { Outcome } from './driver.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const isRoot = process.geteuid?.() === 0
const nobody = 65534
const onPath = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const rungs = [
  { rung: 'bwrap', works: spawnSync('bwrap', ['--ro-bind', '/', '/', '--', 'true']).status === 0 },
  {
    rung: 'landlock',
    works:
      spawnSync(join(root, `packages/sandbox/landlock-run/bin/landlock-run-linux-${process.arch}`), ['--probe'])
        .status === 0,
  },
] as const
const people = [
  { who: 'root', possible: isRoot },
  { who: 'plain', possible: isRoot ? onPath('setpriv') : true },
] as const

let base: string
let driver: string
beforeAll(async () => {
  // Outside every directory that workspace-write may change.
  base = mkdtempSync('/var/tmp/dsh-escape-')
  chmodSync(base, 0o755)
  driver = join(base, 'driver.mjs')
  await build({
    entryPoints: [join(root, 'tests/escape/driver.ts')],
    outfile: driver,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: "import{createRequire as $r}from'node:module';const require=$r(import.meta.url);" },
    logLevel: 'warning',
  })
  cpSync(join(root, 'packages/sandbox/landlock-run/bin'), join(base, 'assets/landlock-run'), { recursive: true })
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function play(who: 'root' | 'plain', rung: string, chosen: readonly unknown[]): Outcome[] {
  const own = join(base, `${who}-${rung}`)
  mkdirSync(join(own, 'w/node_modules/.bin'), { recursive: true })
  const command = [process.execPath, driver, own, rung, JSON.stringify(chosen)]
  if (who === 'plain' && isRoot) {
    for (const name of ['.', ...readdirSync(own, { recursive: true, encoding: 'utf8' })])
      lchownSync(join(own, name), nobody, nobody)
    command.unshift('setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--')
  }
  const [program, ...args] = command as [string, ...string[]]
  const done = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    env: { PATH: `${join(own, 'w/node_modules/.bin')}:${process.env['PATH']}`, HOME: own },
  })
  if (done.stdout === '') throw new Error(`the driver failed: ${done.stderr}`)
  return JSON.parse(done.stdout) as Outcome[]
}

it('there are at least forty attempts', () => {
  expect(attempts.length).toBeGreaterThanOrEqual(40)
  expect(new Set(attempts.map(({ name }) => name)).size).toBe(attempts.length)
})

describe.skipIf(!people[1].possible)('with nothing to confine them, as a plain user', () => {
  // Killing their parents would end the suite, and what needs root proves nothing here.
  const deadly = ['signal everything', 'kill what watches over the command, then outlive it']
  const chosen = attempts.filter(({ name, only }) => only !== 'root' && !deadly.includes(name))

  it('at least forty of the attempts get out, so that they are worth something', () => {
    expect(play('plain', 'none', chosen).filter(({ escaped }) => escaped).length).toBeGreaterThanOrEqual(40)
  }, 120_000)
})

for (const { rung, works } of rungs)
  for (const { who, possible } of people) {
    const chosen = attempts.filter((one) => (one.only ?? who) === who && (one.needs === undefined || onPath(one.needs)))

    describe.skipIf(!works || !possible)(`under ${rung}, as ${who === 'root' ? 'root' : 'a plain user'}`, () => {
      let outcomes: Map<string, Outcome>
      beforeAll(() => {
        outcomes = new Map(play(who, rung, chosen).map((outcome) => [outcome.name, outcome]))
      }, 120_000)

      it.each(chosen.map((attempt) => [attempt.name, attempt] as const))('%s', (name, attempt) => {
        const outcome = outcomes.get(name)
        expect(outcome?.rung).toBe(rung)
        const words = attempt.open?.[rung]
        if (words === undefined) {
          expect(outcome, JSON.stringify(outcome, undefined, 1)).toMatchObject({ escaped: false, changed: [] })
          return
        }
        if (outcome?.escaped !== true) return
        if (words.startsWith('docs:'))
          expect(readFileSync(join(root, 'docs/sandbox.md'), 'utf8')).toContain(words.slice('docs:'.length))
        else {
          const own = join(base, `${who}-${rung}`)
          expect(outcome.notCovered).toContain(
            words.replace('{HOUSE}', join(own, 'house')).replace('{W}', join(own, 'w')),
          )
        }
      })
    })
  }
