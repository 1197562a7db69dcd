// What `npm test` and `npm run demo` do before anything else: a fresh clone becomes a built one.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
export const bin = path.join(root, 'packages/host/cli/bin/dsh.js')

/** Installs what the lock file asks for and builds the command. Exits with the failing step's code. */
export function makeReady() {
  if (!installed()) {
    const words = existsSync(path.join(root, 'node_modules')) ? ['install'] : ['ci']
    console.log(`> npm ${words.join(' ')}`)
    step('npm', [...words, '--no-audit', '--no-fund', '--ignore-scripts=false'])
  }
  step(process.execPath, [path.join(root, 'scripts/build.mjs')])
}

/** True when node_modules holds the versions of package-lock.json. A tree that pnpm made is left to pnpm. */
function installed() {
  const modules = path.join(root, 'node_modules')
  if (existsSync(path.join(modules, '.modules.yaml'))) return true
  const have = lockOf(path.join(modules, '.package-lock.json'))
  const want = lockOf(path.join(root, 'package-lock.json'))
  if (have === undefined || want === undefined) return false
  return Object.entries(want).every(([where, entry]) => {
    if (!where.includes('node_modules/') || entry.optional || entry.devOptional || entry.os || entry.cpu) return true
    return have[where]?.version === entry.version
  })
}

function lockOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined
}

function step(command, args) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (done.error) {
    console.error(`${command}: ${done.error.message}`)
    process.exit(1)
  }
  if (done.status !== 0) process.exit(done.status ?? 1)
}
