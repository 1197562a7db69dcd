import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type MockServer, type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { atTestEnd, tempWorkspace } from '@dsh/testkit'
import { expect, test, vi } from 'vitest'

/** The built program, against a model on loopback. */

vi.setConfig({ testTimeout: 90_000 })

const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')

interface Finished {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function machine(steps: readonly MockStep[]) {
  const home = await tempWorkspace()
  const workspace = await tempWorkspace({ 'a.txt': 'one\ntwo\n' })
  const server: MockServer = await startMockServer({ steps })
  atTestEnd(() => server.close())
  const env = {
    PATH: process.env['PATH'],
    HOME: home.root,
    DSH_HOME: home.path('dsh'),
    DEEPSEEK_BASE_URL: server.url,
    DEEPSEEK_API_KEY: 'k',
  }
  const start = (args: readonly string[], stdin: 'ignore' | 'pipe' = 'ignore') => {
    const child = spawn(process.execPath, [dsh, '--profile', 'headless', ...args], {
      cwd: workspace.root,
      env,
      stdio: [stdin, 'pipe', 'pipe'],
    })
    const text = { out: '', err: '' }
    child.stdout?.on('data', (data) => {
      text.out += data
    })
    child.stderr?.on('data', (data) => {
      text.err += data
    })
    const finished = new Promise<Finished>((resolve) => {
      child.once('close', (code) => resolve({ code, ...text }))
    })
    return { child, finished }
  }
  const asked = () => server.requests.filter((request) => !request.side)
  const log = async () => {
    const root = home.path('dsh', 'sessions')
    const [file] = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('session.jsonl'))
    const lines = (await readFile(path.join(root, file!), 'utf8')).trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line))
  }
  return { start, run: (args: readonly string[]) => start(args).finished, asked, log, home, workspace }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 600 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 25))
  expect(condition()).toBe(true)
}

/** Everything of a request that the next one repeats: up to the end of its last message. */
function head(raw: string): string {
  const end = raw.indexOf('],"stream":true')
  expect(end).toBeGreaterThan(0)
  return raw.slice(0, end)
}

const call = (name: string, args: object): MockStep => ({ reasoning: 'hm', calls: [{ name, args }] })

test('every request starts with the bytes of the one before, across tools, reminders and a continued session', async () => {
  const again = call('bash', { command: 'true', description: 'd' })
  const { run, asked } = await machine([
    call('read', { file_path: 'a.txt' }),
    call('edit', { file_path: 'a.txt', old_string: 'two', new_string: '2' }),
    call('write', { file_path: 'sub/AGENTS.md', content: 'Be brief.' }),
    call('todo_write', { todos: [{ content: 'x', status: 'pending' }] }),
    again,
    again,
    again,
    { text: 'first' },
    call('bash', { command: 'date', description: 'd' }),
    { text: 'second' },
  ])
  expect(await run(['go'])).toMatchObject({ code: 0, out: 'first\n', err: '' })
  expect(await run(['-c', 'go on'])).toMatchObject({ code: 0, out: 'second\n', err: '' })
  const requests = asked()
  expect(requests).toHaveLength(10)
  for (let i = 1; i < requests.length; i++) {
    const before = requests[i - 1]!
    const now = requests[i]!
    expect(now.raw.startsWith(head(before.raw)), `request ${i}`).toBe(true)
    expect(JSON.stringify(now.body.tools)).toBe(JSON.stringify(before.body.tools))
  }
  expect(requests[0]!.body.messages[0].content).not.toMatch(/\d{4}-\d{2}-\d{2}|\d{2}:\d{2}/)
})

test('a signal while the model speaks: its exit code, and the end of the turn is on disk', async () => {
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const [signal, code] of Object.entries(signals)) {
    const { start, asked, log } = await machine([{ text: 'word '.repeat(4000), chunkSize: 5, delayMs: 10 }])
    const { child, finished } = start(['--output-format', 'json', 'go'])
    await until(() => asked().length === 1)
    await new Promise((resolve) => setTimeout(resolve, 400))
    child.kill(signal as NodeJS.Signals)
    const { code: exit, out, err } = await finished
    expect({ signal, exit, err }).toEqual({ signal, exit: code, err: '' })
    expect(JSON.parse(out)).toMatchObject({ type: 'result', is_error: true, error: { code: 'ABORTED' } })
    const [message, stepEnd, turnEnd] = (await log()).slice(-3)
    expect(message).toMatchObject({ type: 'assistant/message', data: { interrupted: true } })
    expect(stepEnd.type).toBe('step/end')
    expect(turnEnd).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'aborted' } } })
  }
})

test('an interrupted turn goes on with -c: the prefix is kept and its calls have their results', async () => {
  const { start, run, asked, workspace } = await machine([
    {
      calls: [
        { name: 'bash', args: { command: 'touch started; sleep 40', description: 'd' } },
        { name: 'bash', args: { command: 'true', description: 'd' } },
      ],
    },
    { text: 'back' },
  ])
  const { child, finished } = start(['go'])
  await until(() => asked().length === 1)
  await until(() => existsSync(workspace.path('started')))
  const killedAt = Date.now()
  child.kill('SIGINT')
  expect(await finished).toMatchObject({ code: 130, out: '' })
  expect(Date.now() - killedAt).toBeLessThan(15_000)
  expect(await run(['-c', 'and now?'])).toMatchObject({ code: 0, out: 'back\n' })
  const [first, second] = asked()
  expect(second!.raw.startsWith(head(first!.raw))).toBe(true)
  const results = second!.body.messages.filter(({ role }: { role: string }) => role === 'tool')
  expect(results.map(({ content }: { content: string }) => content)).toEqual([
    'Error: tool call aborted',
    'Error: tool call aborted before dispatch',
  ])
})

test('-c goes on with the newest session in which something was said, not with one that was only opened', async () => {
  const { run, asked, log, home } = await machine([{ text: 'one' }, { text: 'two' }])
  await run(['first here'])
  const [header] = await log()
  const root = home.path('dsh', 'sessions')
  const [file = ''] = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('session.jsonl'))
  const opened = [
    { ...header, id: 'opened', createdAt: Date.now() + 1000 },
    { type: 'permission/preset', seq: 0, time: Date.now() + 1000, data: { preset: 'workspace-write' } },
  ]
  const dir = path.join(root, path.dirname(path.dirname(file)), 'opened')
  await mkdir(dir)
  await writeFile(path.join(dir, 'session.jsonl'), opened.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(await run(['-c', 'second'])).toMatchObject({ code: 0, out: 'two\n' })
  expect(JSON.stringify(asked()[1]?.body)).toContain('first here')
})

test('what the command line gets wrong is told before anything starts, in the format asked for', async () => {
  const { run, asked } = await machine([{ text: 'never' }])
  expect(await run(['--frob', 'x'])).toEqual({ code: 2, out: '', err: "error: unknown option '--frob'\n" })
  const json = await run(['--output-format', 'json', '--effort', 'ultra', 'x'])
  expect(json).toMatchObject({ code: 2, err: '' })
  expect(JSON.parse(json.out)).toMatchObject({ subtype: 'error_usage', is_error: true })
  expect(asked()).toEqual([])
})

test('the permission mode of a run is what its model is told and its tools are held to', async () => {
  const { run, asked } = await machine([call('write', { file_path: 'new.txt', content: 'x' }), { text: 'ok' }])
  await run(['--permission-mode', 'read-only', 'go'])
  const messages = JSON.stringify(asked()[1]!.body.messages)
  expect(messages).toContain('Current DSH file policy: read-only')
  expect(messages).toContain('[sandbox: file access denied under read-only mode]')
})

test('a row that is missed only when it is used is named by the failure', async () => {
  const { run, asked } = await machine([{ text: 'never' }])
  const place = await tempWorkspace()
  for (const [row, code] of [
    ['llm-deepseek', 'NO_ADAPTER'],
    ['agent-loop', 'AGENT_NO_FACTORY'],
  ] as const) {
    await place.write('p.yml', `- {id: ${row}, disabled: true}\n`)
    const { code: exit, err } = await run(['--patch', place.path('p.yml'), 'go'])
    expect(exit).toBe(1)
    expect(err).toMatch(new RegExp(`^dsh: ${code}: .* — row ${row} \\(@dsh/${row}\\) is disabled\\n$`))
  }
  await place.write('p.yml', '- {id: headless-runner, disabled: true}\n')
  const idle = await run(['--patch', place.path('p.yml'), 'go'])
  expect(idle.err).toMatch(/^dsh: no row .* \(disabled: headless-runner\).*\n$/)
  expect(asked()).toEqual([])
})

test('a fork does not take the id of another session', async () => {
  const { run, asked } = await machine([{ text: 'one' }])
  for (const id of ['a', 'b']) expect((await run(['--session-id', id, 'go'])).code).toBe(0)
  const { code, err } = await run(['--resume', 'a', '--fork-session', '--session-id', 'b', 'go'])
  expect([code, err]).toEqual([2, 'error: session "b" exists already; go on with it: --resume b\n'])
  expect(asked()).toHaveLength(2)
})

test('a signal while the task is still being read from stdin is an interruption', async () => {
  const { start } = await machine([{ text: 'never' }])
  const { child, finished } = start([], 'pipe')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  child.kill('SIGINT')
  const { code, err } = await finished
  expect(code).toBe(130)
  expect(err).toMatch(/^(dsh: ABORTED: the run was interrupted\n)?$/)
})

test('a place for the last message where nothing can be written is told before the model is asked', async () => {
  const { run, asked } = await machine([{ text: 'never' }])
  const { code, out, err } = await run(['--output-last-message', '/nonexistent/x', 'go'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^error: --output-last-message: ENOENT.*\n$/)
  expect((await run(['--output-last-message', '/tmp', 'go'])).err).toBe(
    'error: --output-last-message: /tmp is a directory\n',
  )
  expect(asked()).toEqual([])
})

test('-c in a place where nothing was ever said, or whose newest log is damaged, says so', async () => {
  const { run, log, home, asked } = await machine([{ text: 'one' }])
  const none = await run(['-c', 'go on'])
  expect(none).toMatchObject({ code: 2, out: '' })
  expect(none.err).toMatch(/^error: there is no session to continue in \S+\n$/)
  await run(['first here'])
  const [header] = await log()
  const root = home.path('dsh', 'sessions')
  const [file = ''] = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('session.jsonl'))
  await writeFile(path.join(root, file), 'no log\n')
  const damaged = await run(['-c', 'go on'])
  expect(damaged).toMatchObject({ code: 2, out: '' })
  expect(damaged.err).toMatch(
    new RegExp(`^error: the newest session here is "${header.id}" \\(damaged: .*\\); choose one with --resume <id>`),
  )
  expect(asked()).toHaveLength(1)
})

test('a refusal of a model that its provider does not list says so', async () => {
  const refusal = { status: 400, body: '{"error":{"message":"Model Not Exist"}}' }
  const place = await machine([refusal])
  const { code, err } = await place.run(['-m', 'nope/model', 'hi'])
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /^dsh: INVALID_REQUEST: Model Not Exist — "nope\/model" is not in the list of provider "deepseek-official" \(deepseek-v4-flash, .*\)\n$/,
    ),
  ])
  const listed = await place.run(['hi'])
  expect(listed.err).toBe('dsh: INVALID_REQUEST: Model Not Exist\n')
})
