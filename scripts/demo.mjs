// `npm run demo`: install and build if needed, then play a recorded coding session for real.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { bin, makeReady, root } from './ready.mjs'

makeReady()

const scratch = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-demo-')))
const bubblewrap = rung('sandbox bwrap')
const confined = bubblewrap?.status === 'ok'
console.log(`
What the model says in this session is recorded: no key, no network. Everything else happens now, in a scratch
copy of fixtures/fix-a-failing-test/workspace: the files are read and edited, the commands run${confined ? ' in the sandbox' : ''}.`)
if (!confined) {
  console.log(`
The sandbox rung that is missing here is bubblewrap (${bubblewrap?.text ?? 'not on this platform'}).
To get it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).
This demo runs its commands without: DSH_PERMISSION_MODE=danger-full-access, in the scratch copy. A session of your
own is confined or refused; "npx dsh doctor" says which rungs work on this machine.`)
}

const played = run(process.execPath, [
  bin,
  'replay',
  path.join(root, 'fixtures/fix-a-failing-test'),
  '--scratch',
  scratch,
  '--pace',
  '15',
  ...(confined ? [] : ['--permission-mode', 'danger-full-access']),
])
console.log(`\nThe scratch repository's own tests, run once more outside of the session:`)
const tests = run(process.execPath, ['--test', '--test-reporter=spec'], path.join(scratch, 'w'))
rmSync(scratch, { recursive: true, force: true })
console.log(
  played === 0 && tests === 0
    ? `\nThe session came out as recorded${confined ? '' : ' (files only: it ran in another mode)'}. Try your own: npx dsh --help`
    : '\nSomething came out differently, see above.',
)
process.exit(played || tests)

/** The sandbox as the product itself sees it. */
function rung(check) {
  const asked = spawnSync(process.execPath, [bin, 'doctor', '--json'], { encoding: 'utf8' })
  return JSON.parse(asked.stdout).findings.find((finding) => finding.check === check)
}

function run(command, args, cwd = root) {
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const done = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  return done.status ?? 1
}
