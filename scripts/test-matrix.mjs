// `npm run test:matrix [-- vitest words]`: the whole suite under each Node that is promised, taken from the registry's
// `node` package. `--node 24` runs one of them only.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './ready.mjs'

const words = process.argv.slice(2)
const at = words.indexOf('--node')
const versions = at === -1 ? ['20', '24'] : words.splice(at, 2).slice(1)

const outcomes = versions.map((version) => {
  const bin = nodeOf(version)
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  const found = spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout.trim()
  if (!found.startsWith(`v${version}.`)) throw new Error(`${bin} holds Node ${found}, not ${version}`)
  console.log(`\n> Node ${found}`)
  const run = spawnSync('node', [path.join(root, 'scripts/test.mjs'), ...words], { cwd: root, env, stdio: 'inherit' })
  return { found, code: run.status ?? 1 }
})
console.log('')
for (const { found, code } of outcomes) console.log(`Node ${found}: ${code === 0 ? 'passed' : 'failed'}`)
process.exit(outcomes.every(({ code }) => code === 0) ? 0 : 1)

/** The directory of this version's `node`, installed once beside the other dependencies. */
function nodeOf(version) {
  const dir = path.join(root, 'node_modules/.cache/dsh-matrix', version)
  const bin = path.join(dir, 'node_modules/node/bin')
  if (existsSync(path.join(bin, 'node'))) return bin
  mkdirSync(dir, { recursive: true })
  writeFileSync(path.join(dir, 'package.json'), '{"private":true,"allowScripts":{"node":true}}\n')
  const words = ['install', `node@${version}`, '--no-audit', '--no-fund', '--ignore-scripts=false', '--no-save']
  const done = spawnSync('npm', words, { cwd: dir, stdio: 'inherit' })
  if (done.status !== 0) process.exit(done.status ?? 1)
  return bin
}
