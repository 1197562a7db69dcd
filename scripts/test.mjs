// `npm test [-- vitest words]`: install and build if needed, then every test, with fixed seeds and small counts.
// `--long` uses the counts that a release asks for. DSH_REQUIRE=bubblewrap,tmux makes their absence a failure.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { missing } from './machine.mjs'
import { makeReady, root } from './ready.mjs'

const words = process.argv.slice(2)
const long = words.includes('--long')
makeReady()

const lacks = missing()
const required = (process.env.DSH_REQUIRE ?? '').split(',').filter((name) => name !== '')
const unmet = required.filter((name) => name in lacks)
if (unmet.length > 0) {
  for (const name of unmet) console.error(`required here but missing: ${name}: ${lacks[name]}`)
  process.exit(1)
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'dsh-test-'))
const report = path.join(scratch, 'report.json')
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
const run = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...words.filter((w) => w !== '--long'),
  ],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DSH_SEED: process.env.DSH_SEED ?? '20', ...(long ? { DSH_LONG: '1' } : {}) },
  },
)

const counts = read(report)
rmSync(scratch, { recursive: true, force: true })
console.log(skippedLine(lacks))
if (counts === undefined) {
  console.error('the test runner ended without a report')
  process.exit(run.status || 1)
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(run.status ?? 1)

function read(file) {
  try {
    const json = JSON.parse(readFileSync(file, 'utf8'))
    // A file that fails to load has no tests to count, yet something failed.
    const broken = json.testResults.filter(
      (r) => r.status === 'failed' && r.assertionResults.every((a) => a.status !== 'failed'),
    )
    return {
      passed: json.numPassedTests,
      failed: json.numFailedTests + broken.length,
      skipped: json.numPendingTests + json.numTodoTests,
    }
  } catch {
    return undefined
  }
}

function skippedLine(lacks) {
  const names = Object.keys(lacks)
  if (names.length === 0) return 'nothing was skipped for lack of bubblewrap, tmux, gcc or root'
  return `skipped for lack of ${names.join(', ')}: ${names.map((name) => lacks[name]).join('; ')}`
}
