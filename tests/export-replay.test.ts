import { rmSync, utimesSync } from 'node:fs'
import type { MockStep } from '@dsh/llm-mock-server'
import { tempWorkspace, type Workspace } from '@dsh/testkit'
import { describe, expect, test } from 'vitest'
import { newestSession, program } from './against-mock.ts'

/** What people ask for in a first hour, as sessions of the built program: each is exported and replayed as it is. */

const bash = (command: string): MockStep => ({ calls: [{ name: 'bash', args: { command, description: 'Run it' } }] })
const files = { 'config.txt': 'light = off\n', 'src/greet.js': 'export const greet = () => 1\n' }

type Run = Awaited<ReturnType<typeof program>>

/** Plays `session` in a workspace that has the files, and gives the fixture made of it; `more` goes to the export. */
async function exported(steps: readonly MockStep[], session: (run: Run, here: Workspace) => Promise<void>) {
  const here = await tempWorkspace(files)
  const before = await tempWorkspace(files)
  utimesSync(here.path('config.txt'), 1_600_000_000, 1_600_000_000)
  const out = await tempWorkspace()
  const run = await program(steps, here)
  await session(run, here)
  const words = ['sessions', 'export', await newestSession(run), '--fixture', out.path('fx')]
  const { code, stderr } = await run(...words, '--workspace', before.root)
  expect([code, stderr]).toEqual([0, ''])
  return { run, out, fixture: out.path('fx') }
}

async function replaysAsRecorded({ run, fixture }: { run: Run; fixture: string }) {
  const { code, stdout } = await run('replay', fixture)
  expect(stdout).toMatch(/^ok +fx/m)
  expect(code).toBe(0)
}

describe('an exported session replays as it went', { timeout: 60_000 }, () => {
  test.each<[string, readonly MockStep[]]>([
    ['lists the directory', [bash('ls -la'), { text: 'A file and a directory.' }]],
    ['lists more than one, and the one above', [bash('ls -lR; ls -lahd . ..; ls -l /etc/passwd'), { text: 'So.' }]],
    ['says where it is and what time it is', [bash('pwd; date; date -Iseconds; stat config.txt'), { text: 'Here.' }]],
    ['runs tests', [bash('node --test 2>&1 | cat'), { text: 'There are none.' }]],
  ])('%s', async (_what, steps) => {
    const made = await exported([...steps], async (run) => {
      expect(await run('-p', 'Look around.')).toMatchObject({ code: 0 })
    })
    await replaysAsRecorded(made)
  })

  test('two prompts, in two programs', async () => {
    const steps = [bash('ls -la; echo more > new.txt'), { text: 'One.' }, bash('ls -la'), { text: 'Two.' }]
    const made = await exported(steps, async (run) => {
      expect(await run('-p', 'Look.')).toMatchObject({ code: 0, stdout: 'One.\n' })
      expect(await run('-p', '-c', 'Again.')).toMatchObject({ code: 0, stdout: 'Two.\n' })
    })
    await replaysAsRecorded(made)
  })

  test('killed as its first call begins', async () => {
    const made = await exported([bash('sleep 3; ls -la'), { text: 'It was cut off.' }], async (run) => {
      const killed = run.start('-p', '--output-format', 'stream-json', 'Wait.')
      const closed = new Promise((resolve) => killed.once('close', resolve))
      await new Promise<void>((resolve) =>
        killed.stdout.on('data', (data) => String(data).includes('sleep 3') && resolve()),
      )
      killed.kill('SIGKILL')
      await closed
      expect(await run('-p', '-c', 'Did it?')).toMatchObject({ code: 0, stdout: 'It was cut off.\n' })
    })
    await replaysAsRecorded(made)
  })

  test('asks for more than the mode allows, and is refused', async () => {
    const wider = { command: 'echo x > /etc/dsh-x', description: 'Write', sandbox_mode: 'danger-full-access' }
    const call = { name: 'bash', args: { ...wider, justification: 'You asked for it.' } }
    const made = await exported([{ calls: [call] }, { text: 'Then not.' }], async (run) => {
      expect(await run('-p', 'Write there.')).toMatchObject({ code: 0, stdout: 'Then not.\n' })
    })
    await replaysAsRecorded(made)
  })

  test('is compacted on the way', async () => {
    const long = 'word '.repeat(400)
    const steps = [bash('ls -la'), { text: long }, { text: 'A summary of it.' }, { text: 'Two.' }]
    const made = await exported(steps, async (run) => {
      expect(await run('-p', 'Look.')).toMatchObject({ code: 0 })
      expect(await run('-p', '-c', '/compact')).toMatchObject({ code: 0 })
      expect(await run('-p', '-c', 'Again.')).toMatchObject({ code: 0 })
    })
    await replaysAsRecorded(made)
  })

  test('killed in a call, and never taken up again', async () => {
    const made = await exported([bash('echo begun > begun.txt; sleep 60')], async (run, here) => {
      const killed = run.start('-p', 'Wait.')
      const closed = new Promise((resolve) => killed.once('close', resolve))
      await expect.poll(() => here.exists('begun.txt'), { timeout: 20_000 }).toBe(true)
      killed.kill('SIGKILL')
      await closed
    })
    await replaysAsRecorded(made)
  })

  test('a copy of another session, from the middle of it on', async () => {
    const steps = [bash('ls -la'), { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]
    const made = await exported(steps, async (run) => {
      expect(await run('-p', 'Look.')).toMatchObject({ code: 0 })
      expect(await run('-p', '-c', 'Go on.')).toMatchObject({ code: 0, stdout: 'Two.\n' })
      const events = (await run('sessions', 'export', await newestSession(run), '--jsonl')).stdout.split('\n').slice(1)
      const end = events.find((line) => line.startsWith('{"type":"turn/end"')) as string
      const at = (JSON.parse(end) as { seq: number }).seq
      const fork = await run('sessions', 'fork', await newestSession(run), '--at', String(at))
      expect(fork).toMatchObject({ code: 0 })
      expect(await run('-p', '--resume', fork.stdout.trim(), 'And?')).toMatchObject({ code: 0, stdout: 'Three.\n' })
    })
    await replaysAsRecorded(made)
  })
})

describe('what a session was about still counts', { timeout: 60_000 }, () => {
  test('a file more, or another size of one, shows in a listing', async () => {
    const made = await exported([bash('ls -la'), { text: 'Two.' }], async (run) => {
      expect(await run('-p', 'Look around.')).toMatchObject({ code: 0 })
    })
    await replaysAsRecorded(made)
    await made.out.write('fx/workspace/one-more.txt', 'x')
    expect((await made.run('replay', made.fixture)).stdout).toMatch(/^ +\+.*one-more\.txt$/m)
    rmSync(made.out.path('fx/workspace/one-more.txt'))
    await replaysAsRecorded(made)
    await made.out.write('fx/workspace/config.txt', 'light = on\n')
    expect((await made.run('replay', made.fixture)).stdout).toMatch(/^ +\+.* 11 .*config\.txt$/m)
  })
})
