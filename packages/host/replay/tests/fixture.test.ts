import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { guidance } from '@dsh/file-reference-local'
import { tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import {
  catalogueOf,
  inputOfLog,
  moreRowsOf,
  parseTranscript,
  permissionModeOf,
  readFixture,
  routeOf,
} from '../src/index.ts'

const header = '{"type":"session","version":0,"id":"s","createdAt":0,"cwd":"/w","delegationDepth":0}\n'
const prompt = (text: string) =>
  `${JSON.stringify({ type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, inserted: [{ content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: text }] } })}\n`

test.each([
  [{ 'notes.txt': '' }, 'is no fixture: it has neither session.jsonl nor script.json'],
  [{ 'session.jsonl': header, 'session.2.jsonl': header }, 'expected session.1.jsonl, found session.2.jsonl'],
  [{ 'session.jsonl': header, 'session.old.jsonl': header }, 'invalid child session fixture name'],
  [{ 'session.jsonl': header, 'input.json': '{"steps":[{"op":"shout"}]}' }, 'input.json: steps.0.op'],
  [{ 'session.jsonl': header, 'input.json': '{"requets":"all"}' }, 'Unrecognized key: "requets"'],
  [{ 'session.jsonl': `${header}{"type"` }, 'session.jsonl: session snapshot line 2 contains invalid JSON'],
  [{ 'session.jsonl.zstd': '' }, 'empty or header-less Zstandard session log'],
])('a directory that is no fixture is refused in one line: %j', async (files, message) => {
  const place = await tempWorkspace(files as Record<string, string>)
  const failure: Error = await readFixture(place.root).then(
    () => new Error('read'),
    (error) => error,
  )
  expect(failure.message).toContain(message)
  expect(failure.message).not.toContain('\n')
})

test('a bare log gives its prompts again, with a new process where it was resumed', async () => {
  const end = '{"type":"session/end-seed","data":{}}\n'
  const place = await tempWorkspace({ 'some.jsonl': header + prompt('one') + end + prompt('two') })
  const fixture = await readFixture(place.path('some.jsonl'))
  expect(fixture.steps).toEqual([{ op: 'prompt', text: 'one' }, { op: 'resume' }, { op: 'prompt', text: 'two' }])
})

const line = (type: string, data: object) => `${JSON.stringify({ type, data })}\n`
const start = (turn: number) => line('turn/start', { turn })
const end = (turn: number, reason: object) => line('turn/end', { turn, reason })
const call = line('tool/call', { name: 'bash' })
const chunk = line('assistant/chunk', { chunk: { type: 'text-delta' } })
const closer = line('tool/result', { message: { id: 'interrupted-tool-result-call_1-3', content: [] } })
const byUser = { kind: 'aborted', reason: { kind: 'user' } }
const seeded = '{"type":"session/end-seed","data":{}}\n'

test.each([
  [
    'killed in its second call',
    [prompt('a'), start(1), call, chunk, call, end(1, { kind: 'interrupted' }), seeded],
    [{ op: 'promptAndKill', text: 'a', waitForEvents: 5 }, { op: 'resume' }],
    [],
  ],
  [
    'killed in a call, which was closed when the session was taken up again',
    [prompt('a'), start(1), call, closer, line('step/end', {}), end(1, { kind: 'interrupted' }), seeded],
    [{ op: 'promptAndKill', text: 'a', waitForEvents: 3 }, { op: 'resume' }],
    [],
  ],
  [
    'killed in a call, and never resumed',
    [prompt('a'), start(1), call],
    [{ op: 'promptAndKill', text: 'a', waitForEvents: 3 }],
    [],
  ],
  [
    'killed in an answer',
    [prompt('a'), start(1), call, chunk],
    [{ op: 'promptAndKill', text: 'a', waitForEvents: 4 }],
    [],
  ],
  [
    'cancelled in a call',
    [prompt('a'), start(1), call, end(1, byUser), prompt('b')],
    [
      { op: 'promptAndCancel', text: 'a', waitForCalls: 1 },
      { op: 'prompt', text: 'b' },
    ],
    [],
  ],
  [
    'cancelled in an answer',
    [prompt('a'), start(1), chunk, end(1, byUser)],
    [{ op: 'promptAndCancel', text: 'a', waitForChunks: 1 }],
    [],
  ],
  [
    'killed before a word was said',
    [prompt('a'), start(1)],
    [{ op: 'promptAndKill', text: 'a', waitForEvents: 2 }],
    [],
  ],
  [
    'stopped by a limit',
    [prompt('a'), start(1), end(1, { kind: 'aborted', reason: { kind: 'hook' } })],
    [{ op: 'prompt', text: 'a' }],
    ['turn 1 was stopped by a limit'],
  ],
  [
    'steered',
    [prompt('a'), start(1), call, prompt('b').replace('next-turn', 'next-step')],
    [{ op: 'promptAndSteer', text: 'a', steer: 'b', waitForCalls: 1 }],
    ['turn 1 was killed'],
  ],
  [
    'given a command',
    [line('command/run', { name: 'compact', args: 'all of it' })],
    [{ op: 'command', text: '/compact all of it' }],
    [],
  ],
])('a log whose turn was %s gives the step again', (_, lines, steps, doubts) => {
  const input = inputOfLog(parseTranscript(header + (lines as string[]).join('')))
  expect(input.steps).toEqual(steps)
  expect(input.doubts).toEqual(doubts)
})

test('a log without an input.json answers its approvals as they were answered; an input.json has the last word', async () => {
  const outcomes = ['allowed-once', 'rejected', 'cancelled'].map((outcome) =>
    line('approval/decided', { id: 'x', outcome }),
  )
  const log = header + prompt('a') + outcomes.join('')
  const place = await tempWorkspace({ 'bare.jsonl': log, 'fx/session.jsonl': log })
  const kinds = [{ kind: 'allow_once' }, { kind: 'reject_once' }, { kind: 'cancelled' }]
  expect((await readFixture(place.path('bare.jsonl'))).input.permissionAnswers).toEqual(kinds)
  expect((await readFixture(place.path('fx'))).input.permissionAnswers).toEqual(kinds)
  await writeFile(place.path('fx/input.json'), '{}')
  expect((await readFixture(place.path('fx'))).input.permissionAnswers).toBeUndefined()
})

test('a log whose system prompt shows a row of the terminal is played with that row', () => {
  const log = (system: string) => parseTranscript(header + line('request/header', { header: { config: {}, system } }))
  expect(moreRowsOf(log('You are an agent.'))).toEqual([])
  expect(moreRowsOf(log(`You are an agent.\n\n${guidance}\n`))).toEqual([
    { id: 'file-reference-local', name: '@dsh/file-reference-local' },
  ])
})

test('routes, defaults, window, retry policy and permission mode are read off the log', () => {
  const lines = [
    { type: 'permission/preset', data: { preset: 'read-only' } },
    {
      type: 'request/header',
      data: {
        header: {
          config: { provider: 'p', model: 'm', maxTokens: 9, reasoningEffort: 'deep' },
          adapterDefaults: { maxTokens: true },
        },
        reason: 'initial',
      },
    },
    { type: 'request/context', data: { provider: 'p', model: 'm', contextWindow: 77 } },
    { type: 'llm/retry', data: { provider: 'p', policyKey: '["normal",2,["SERVER"],1,5,0]' } },
  ]
  const log = parseTranscript(header + lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(permissionModeOf(log)).toBe('read-only')
  expect(routeOf(log)).toEqual({ provider: 'p', model: 'm', reasoningEffort: 'deep' })
  expect(catalogueOf(log)).toEqual([
    {
      id: 'p',
      retryPolicy: {
        mode: 'normal',
        maxRetries: 2,
        retryableCodes: ['SERVER'],
        initialDelayMs: 1,
        maxDelayMs: 5,
        jitterRatio: 0,
      },
      models: [
        { id: 'm', contextWindow: 77, defaultMaxTokens: 9, reasoningEfforts: ['off', 'low', 'high', 'max', 'deep'] },
      ],
    },
  ])
})

const frame = (text: string) => spawnSync('zstd', ['-qc', '--check'], { input: text }).stdout

test.skipIf(spawnSync('zstd', ['--version']).status !== 0)(
  'a compressed log is read as the plain one, by its name and by its directory',
  async () => {
    const place = await tempWorkspace({ 'plain.jsonl': header + prompt('one') })
    const file = place.path('session.jsonl.zstd')
    await writeFile(file, Buffer.concat([frame(header), frame(prompt('one'))]))
    const plain = await readFixture(place.path('plain.jsonl'))
    for (const target of [file, place.root]) {
      const read = await readFixture(target)
      expect(read.transcript).toEqual(plain.transcript)
      expect([read.file, read.steps]).toEqual([file, plain.steps])
    }
  },
)
