import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const dsh = path.join(root, 'packages/host/cli/bin/dsh.js')
const fixtures = readdirSync(path.join(root, 'fixtures'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

interface Report {
  readonly fixtures: readonly {
    readonly name: string
    readonly skipped?: string
    readonly findings: readonly { readonly title: string; readonly detail: string }[]
  }[]
}

/** The built program plays every recorded session, as `dsh replay fixtures/*` does. */
describe('recorded sessions come out as recorded', () => {
  let report: Report

  beforeAll(() => {
    const words = fixtures.map((name) => path.join('fixtures', name))
    const run = spawnSync(process.execPath, [dsh, 'replay', ...words, '--json'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    if (run.stdout === '') throw new Error(`dsh replay printed nothing: ${run.stderr}`)
    report = JSON.parse(run.stdout)
  }, 180_000)

  test.for(fixtures)('%s', (name, context) => {
    const outcome = report.fixtures.find((fixture) => fixture.name === name)
    expect(outcome).toBeDefined()
    if (outcome?.skipped !== undefined) context.skip(outcome.skipped)
    expect(outcome?.findings.map((finding) => `${finding.title}\n${finding.detail}`)).toEqual([])
  })
})

test('every fixture says in one line what it proves, and whose words the model speaks', () => {
  for (const name of fixtures) {
    const input = JSON.parse(readFileSync(path.join(root, 'fixtures', name, 'input.json'), 'utf8'))
    expect(input.proves, name).toMatch(/^[^\n]{20,160}\.$/)
    expect(typeof input.scripted, name).toBe('boolean')
  }
})
