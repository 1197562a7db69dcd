// `npm run demo`: install and build if needed, then play a recorded coding session for real.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { bin, makeReady, root } from './ready.mjs'

makeReady()

const scratch = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-demo-')))
const sandbox = rungs()
console.log(`
What the model says in this session is recorded: no key, no network. Everything else happens now, in a scratch
copy of fixtures/fix-a-failing-test/workspace: the files are read and edited, the commands run${sandbox.confined ? ' in the sandbox' : ''}.`)
if (!sandbox.bubblewrap) {
  console.log(`
The sandbox rung that is missing here is bubblewrap (${sandbox.why}).
To get it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).`)
  if (sandbox.confined)
    console.log(
      'The commands run in the next rung, Landlock, which confines less; "npx dsh doctor" says what it leaves open.',
    )
  else
    console.log(`Without a rung dsh refuses to run a command, unless it is told to run it unconfined. For this demo it is told so:
DSH_PERMISSION_MODE=danger-full-access, in the scratch copy. "npx dsh doctor" says what works on this machine.`)
}

const played = run(process.execPath, [
  bin,
  'replay',
  path.join(root, 'fixtures/fix-a-failing-test'),
  '--scratch',
  scratch,
  '--pace',
  '15',
  ...(sandbox.confined ? [] : ['--permission-mode', 'danger-full-access']),
])
console.log(`\nThe scratch repository's own tests, run once more outside of the session:`)
const tests = run(process.execPath, ['--test', '--test-reporter=spec'], path.join(scratch, 'w'))
rmSync(scratch, { recursive: true, force: true })
console.log(
  played === 0 && tests === 0
    ? `\nThe session came out as recorded${sandbox.confined ? '' : ' (files only: it ran in another mode)'}. Try your own: npx dsh --help`
    : '\nSomething came out differently, see above.',
)
process.exit(played || tests)

/** The sandbox as the product itself sees it. */
function rungs() {
  const asked = spawnSync(process.execPath, [bin, 'doctor', '--json'], { encoding: 'utf8' })
  const { findings } = JSON.parse(asked.stdout)
  const find = (check) => findings.find((finding) => finding.check === check)
  return {
    confined: find('sandbox')?.status !== 'fail',
    bubblewrap: find('sandbox bwrap')?.status === 'ok',
    why: find('sandbox bwrap')?.text,
  }
}

function run(command, args, cwd = root) {
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const done = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  return done.status ?? 1
}
