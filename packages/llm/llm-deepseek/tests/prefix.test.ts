import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type MockCall, type MockRequest, type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { afterEach, beforeEach, expect, test } from 'vitest'

const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'dsh-prefix-'))
  writeFileSync(path.join(dir, 'AGENTS.md'), 'Be brief.\n')
  writeFileSync(path.join(dir, 'a.txt'), 'one\ntwo\n')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Runs the program for each list of words, against one server. */
async function requestsOf(steps: readonly MockStep[], ...runs: readonly (readonly string[])[]): Promise<MockRequest[]> {
  const server = await startMockServer({ steps })
  for (const words of runs) {
    const child = spawn(process.execPath, [dsh, '--profile', 'headless', ...words], {
      cwd: dir,
      env: {
        ...process.env,
        DSH_HOME: path.join(dir, 'home'),
        DEEPSEEK_BASE_URL: server.url,
        DEEPSEEK_API_KEY: 'k',
        DSH_PERMISSION_MODE: 'danger-full-access',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 30_000,
    })
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  }
  const made = server.requests.filter((request) => !request.side)
  await server.close()
  return made
}

/** Everything up to the end of the last message: what a prefix cache compares. */
function promptOf({ raw }: MockRequest): string {
  return raw.slice(0, raw.indexOf('],"stream":true'))
}

/** Indices of the requests that do not begin with the bytes of the one before, or offer other tools. */
function breaks(requests: readonly MockRequest[]): number[] {
  return requests.flatMap((request, i) => {
    const before = requests[i - 1]
    if (before === undefined) return []
    const same = promptOf(request).startsWith(promptOf(before))
    return same && JSON.stringify(request.body.tools) === JSON.stringify(before.body.tools) ? [] : [i]
  })
}

const step = (...calls: [string, object][]): MockStep => ({
  reasoning: 'thinking about it',
  calls: calls.map(([name, args]): MockCall => ({ name, args })),
})
const bash = (command: string): [string, object] => ['bash', { command, description: 'd' }]

const work: MockStep[] = [
  step(['read', { file_path: 'a.txt' }], bash('ls; date +%N')),
  step(['edit', { file_path: 'a.txt', old_string: 'two', new_string: 'three' }]),
  step(['write', { file_path: 'sub/b.txt', content: 'new\n' }]),
  step(['todo_write', { todos: [{ content: 'x', status: 'in_progress' }] }]),
  step(['glob', { pattern: '**/*.txt' }], ['grep', { pattern: 'three' }]),
  step(bash('false')),
  step(bash('echo same')),
  step(bash('echo same')),
  step(bash('echo same')),
  { calls: [{ name: 'bash', args: '{"command":"broken off' }] },
  step(['no_such_tool', {}]),
  step(['bash', { command: 'sleep 0.1; echo out', description: 'd', run_in_background: true }]),
  step(['job_list', {}]),
]

test('over every kind of step the prefix breaks once, at the compaction that the log has', {
  timeout: 60_000,
}, async () => {
  const overflow = { status: 400, body: '{"error":{"message":"maximum context length exceeded"}}' }
  const steps = [...work.slice(0, 6), overflow, { text: 'Earlier: files.' }, ...work.slice(6), { text: 'done' }]
  const requests = await requestsOf(steps, ['go'])
  expect(requests.length).toBeGreaterThanOrEqual(work.length + 3)
  const conversation = requests.filter(({ raw }) => !raw.includes('under exactly these headings'))
  expect(breaks(conversation)).toEqual([7])
  const logs = readdirSync(path.join(dir, 'home'), { recursive: true, encoding: 'utf8' })
  const log = logs.find((name) => name.endsWith('session.jsonl')) as string
  const text = readFileSync(path.join(dir, 'home', log), 'utf8')
  expect(text.match(/"type":"compaction\/end"/g)?.length).toBe(1)
})
