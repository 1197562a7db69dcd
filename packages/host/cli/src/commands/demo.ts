import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DshError } from '@dsh/core'
import { demoFixtures } from '../paths.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh demo

Plays a recorded coding session for real, without a key: the model's words are recorded, everything else happens now, in
a scratch directory that is removed afterwards.

Exit: 0 everything as recorded, 1 something differs.
`

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseWords(args, {}, 0)
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const fixture = demoFixtures.find((dir) => existsSync(dir))
  if (fixture === undefined) throw new DshError('DEMO', `the recorded session is not there: ${demoFixtures[0]}`)
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-demo-')))
  try {
    return play(fixture, scratch)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function play(fixture: string, scratch: string): number {
  const bubblewrap = finding('sandbox bwrap')
  const confined = bubblewrap?.status === 'ok'
  say(`
What the model says in this session is recorded: no key, no network. Everything else happens now, in a scratch
directory: the files are read and edited, the commands run${confined ? ' in the sandbox' : ''}.`)
  if (!confined)
    say(`
The sandbox rung that is missing here is bubblewrap (${bubblewrap?.text ?? 'not on this platform'}).
To get it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).
This demo runs its commands without: DSH_PERMISSION_MODE=danger-full-access, in the scratch directory. A session of
your own is confined or refused; "dsh doctor" says which rungs work on this machine.`)
  // What cannot be told is not played: nobody would see it, and the programs below would each complain as well.
  if (process.stdout.errored) return 1
  const free = confined ? [] : ['--permission-mode', 'danger-full-access']
  const played = child([...self, 'replay', fixture, '--scratch', scratch, '--pace', '15', ...free])
  say(`\nThe scratch directory's own tests, run once more outside of the session:`)
  const tests = child([process.execPath, '--test', '--test-reporter=spec'], join(scratch, 'w'))
  const well = played === 0 && tests === 0
  const how = confined ? '' : ' (files only: it ran in another mode)'
  say(
    well
      ? `\nThe session came out as recorded${how}. Try your own: dsh --help`
      : '\nSomething came out differently, see above.',
  )
  return well ? 0 : 1
}

/** This program. */
const self = [process.execPath, process.argv[1] as string] as const

/** The sandbox as `dsh doctor` sees it. */
function finding(check: string): { readonly status: string; readonly text: string } | undefined {
  const [program, script] = self
  const { stdout } = spawnSync(program, [script, 'doctor', '--json'], { encoding: 'utf8' })
  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; text: string }[] }
  return findings.find((one) => one.check === check)
}

function child([program, ...words]: readonly string[], cwd = process.cwd()): number {
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  return spawnSync(program as string, words, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
