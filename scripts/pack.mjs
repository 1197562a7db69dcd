// `npm run pack [-- DIR]`: one tarball of the command that `npm i <tarball>` installs anywhere; prints where it is.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from './ready.mjs'

const to = path.resolve(process.argv[2] ?? root)
mkdirSync(to, { recursive: true })
const stage = mkdtempSync(path.join(os.tmpdir(), 'dsh-pack-'))
try {
  run(process.execPath, [path.join(root, 'scripts/prepack.mjs'), '--stage', stage])
  const packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', to], stage))[0]
  console.log(path.join(to, packed.filename))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

function run(command, args, cwd = root) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (done.status !== 0) {
    process.stdout.write(done.stdout ?? '')
    process.exitCode = done.status ?? 1
    throw new Error(`${command} ${args.join(' ')} failed`)
  }
  return done.stdout
}
