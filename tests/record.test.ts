import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import type { MockStep } from '@dsh/llm-mock-server'
import { parseTranscript, readTree, spillPatches } from '@dsh/replay'
import { tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { newestSession, program } from './against-mock.ts'

/** Reads, edits, answers; names its files absolutely, as models do. */
function conversation(root: string): MockStep[] {
  return [
    { text: 'Let me look.', calls: [{ name: 'read', args: { file_path: `${root}/config.txt` } }] },
    { calls: [{ name: 'edit', args: { file_path: 'config.txt', old_string: 'off', new_string: 'on' } }] },
    { text: 'It is on.' },
  ]
}

async function bytesOf(dir: string): Promise<Record<string, string>> {
  const tree = await readTree(dir)
  return Object.fromEntries(
    [...tree].map(([name, entry]) => [name, entry.kind === 'file' ? entry.bytes.toString() : 'link']),
  )
}

test('record, replay and refresh leave the same bytes', async () => {
  const here = await tempWorkspace({ 'config.txt': 'light = off\n', 'lib/x.txt': 'x\n' })
  const out = await tempWorkspace()
  const fixture = out.path('light')
  const run = await program(conversation('.'), here)

  const recorded = await run('record', 'Switch', 'the', 'light', 'on.', '--to', fixture)
  expect(recorded).toMatchObject({ code: 0, stderr: '' })
  expect(recorded.stdout).toContain('It is on.')
  expect(await here.read('config.txt')).toBe('light = off\n')
  const first = await bytesOf(fixture)
  expect(Object.keys(first).sort()).toEqual([
    'input.json',
    'session.jsonl',
    'system-prompt.expected.md',
    'tool-schemas.expected.json',
    'workspace.expected/config.txt',
    'workspace.expected/lib/x.txt',
    'workspace/config.txt',
    'workspace/lib/x.txt',
  ])
  expect(first['workspace.expected/config.txt']).toBe('light = on\n')
  expect(JSON.stringify(first)).not.toContain('test-key')

  expect(await run('replay', fixture, '--quiet')).toMatchObject({ code: 0, stderr: '' })
  expect(await bytesOf(fixture)).toEqual(first)
  expect(await run('replay', fixture, '--quiet', '--update')).toMatchObject({ code: 0 })
  expect(await bytesOf(fixture)).toEqual(first)
  const again = await program(conversation('.'), here)
  expect(await again('replay', fixture, '--quiet', '--mode', 'record')).toMatchObject({ code: 0 })
  expect(await bytesOf(fixture)).toEqual(first)
}, 60_000)

test('a recording takes along neither other fixtures nor files of secrets, and plays again where it listed files', async () => {
  const here = await tempWorkspace({
    'a.txt': 'a\n',
    '.env': 'TOKEN=not-for-a-fixture\n',
    '.env.example': 'TOKEN=\n',
    'fixtures/old/session.jsonl': '{}\n',
    'fixtures/old/input.json': '{}\n',
    'data/session.jsonl': '{}\n',
  })
  const list = { name: 'bash', args: { command: 'ls -lA', description: 'List' } }
  const run = await program([{ calls: [list] }, { text: 'Listed.' }], here)
  const fixture = here.path('fixtures/new')
  expect(await run('record', 'List the files.', '--to', fixture)).toMatchObject({ code: 0, stderr: '' })
  const kept = Object.keys(await bytesOf(fixture)).filter((name) => name.startsWith('workspace/'))
  expect(kept.sort()).toEqual(['workspace/.env.example', 'workspace/a.txt', 'workspace/data/session.jsonl'])
  expect((await run('replay', fixture)).stdout).toMatch(/^ok +new/m)
}, 60_000)

test('a failed recording keeps nothing but the reason', async () => {
  const here = await tempWorkspace({ a: 'a' })
  const run = await program([{ status: 401, body: '{"error":{"message":"Authentication Fails"}}' }], here)
  const failed = await run('record', 'Do it', '--to', here.path('out/fx'))
  expect(failed).toMatchObject({ code: 1 })
  expect(failed.stderr).toBe('dsh: nothing was recorded: AUTH: Authentication Fails\n')
  expect(await here.exists('out/fx')).toBe(false)
})

test('a plain session becomes a fixture, with or without the files it started with', async () => {
  const here = await tempWorkspace({ 'config.txt': 'light = off\n' })
  const before = await tempWorkspace({ 'config.txt': 'light = off\n' })
  const out = await tempWorkspace()
  const run = await program(conversation(here.root), here)
  expect(await run('-p', 'Switch the light on.')).toMatchObject({ code: 0, stdout: 'It is on.\n' })
  const id = await newestSession(run)

  expect(await run('sessions', 'export', id, '--fixture', out.path('fx'), '--workspace', before.root)).toMatchObject({
    code: 0,
  })
  expect(await run('replay', out.path('fx'), '--quiet')).toMatchObject({ code: 0 })
  await run('replay', out.path('fx'), '--update', '--quiet')
  expect((await bytesOf(out.path('fx')))['workspace.expected/config.txt']).toBe('light = on\n')

  expect(await run('sessions', 'export', id, '--fixture', out.path('bare'))).toMatchObject({ code: 0 })
  const bare = await run('replay', out.path('bare'), '--quiet')
  expect(bare.code).toBe(1)
  expect(bare.stdout).toMatch(/request 2 .* is not the one recorded[\s\S]*not found/)
}, 60_000)

test('a session that was killed in a call and taken up again becomes a fixture that is played as it went', async () => {
  const here = await tempWorkspace()
  const out = await tempWorkspace()
  const command = { command: 'touch started; sleep 60', description: 'wait' }
  const run = await program(
    [{ text: 'Now.', calls: [{ name: 'bash', args: command }] }, { text: 'It was cut off.' }, { text: 'Good.' }],
    here,
  )
  const killed = run.start('-p', 'Wait a minute.')
  while (!(await here.exists('started'))) await new Promise((resolve) => setTimeout(resolve, 20))
  killed.kill('SIGKILL')
  await new Promise((resolve) => killed.once('close', resolve))
  expect(await run('-p', '-c', 'Did it go through?')).toMatchObject({ code: 0, stdout: 'It was cut off.\n' })
  expect(await run('-p', '-c', 'Thanks.')).toMatchObject({ code: 0, stdout: 'Good.\n' })
  const id = await newestSession(run)
  const exported = await run('sessions', 'export', id, '--fixture', out.path('fx'))
  expect(exported).toMatchObject({ code: 0 })
  expect(exported.stderr).not.toContain('input.json')
  expect(JSON.parse((await bytesOf(out.path('fx')))['input.json'] as string).steps).toEqual([
    { op: 'promptAndKill', text: 'Wait a minute.', waitForEvents: expect.any(Number) },
    { op: 'resume' },
    { op: 'prompt', text: 'Did it go through?' },
    { op: 'resume' },
    { op: 'prompt', text: 'Thanks.' },
  ])
  expect(await run('replay', out.path('fx'), '--quiet')).toMatchObject({ code: 0 })
}, 60_000)

test('a session whose answers were cut off, by Ctrl+C and by a kill, becomes a fixture that is played as it went', async () => {
  const here = await tempWorkspace()
  const out = await tempWorkspace()
  const slow = { text: Array.from({ length: 100 }, (_, i) => `word ${i} `).join(''), chunkSize: 7, delayMs: 40 }
  const run = await program([slow, slow, { text: 'At last.' }], here)
  const cut = async (signal: NodeJS.Signals, ...words: string[]) => {
    const child = run.start('-p', '--output-format', 'stream-json', ...words)
    await new Promise<void>((resolve) => {
      let text = ''
      child.stdout.on('data', (data) => {
        text += data
        if (text.includes('word 9')) resolve()
      })
    })
    const closed = new Promise((resolve) => child.once('close', resolve))
    // A moment for the words to reach the log.
    await new Promise((resolve) => setTimeout(resolve, 400))
    child.kill(signal)
    await closed
  }
  await cut('SIGINT', 'Say a lot.')
  await cut('SIGKILL', '-c', 'Once more.')
  expect(await run('-p', '-c', 'And now?')).toMatchObject({ code: 0, stdout: 'At last.\n' })
  const id = await newestSession(run)
  expect((await run('sessions', 'export', id, '--fixture', out.path('fx'))).stderr).not.toContain('input.json')
  const { steps } = JSON.parse((await bytesOf(out.path('fx')))['input.json'] as string)
  expect(steps.map(({ op }: { op: string }) => op)).toEqual([
    'promptAndCancel',
    'resume',
    'promptAndKill',
    'resume',
    'prompt',
  ])
  const replayed = await run('replay', out.path('fx'))
  expect(replayed.stdout).toMatch(/^ok +fx/m)
  expect(replayed.code).toBe(0)
}, 60_000)

test('a recording in which the model reads a spilled result finds that file again in every run', async () => {
  const copy = await tempWorkspace()
  const fixture = copy.path('spill')
  await cp(path.resolve(import.meta.dirname, '../fixtures/spill'), fixture, { recursive: true })
  await rm(path.join(fixture, 'script.json'))
  const run = await program([], copy)
  expect((await run('replay', fixture, '--quiet')).stdout).toMatch(/request 3 .* is not the one recorded/)

  const patches = spillPatches(parseTranscript(await copy.read('spill/session.jsonl')))
  expect(patches).toHaveLength(1)
  await copy.write('spill/replay.override.json', JSON.stringify({ patches }))
  expect(await run('replay', fixture, '--quiet')).toMatchObject({ code: 0 })
}, 60_000)
