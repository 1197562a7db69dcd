import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { tempWorkspace } from '@dsh/testkit'
import { describe, expect, test } from 'vitest'
import {
  compareLogs,
  compareTrees,
  parseTranscript,
  readTree,
  reportJunit,
  requestsOf,
  startFindings,
  summaryOf,
} from '../src/index.ts'

const header = { type: 'session', version: 0, id: 's', createdAt: 0, cwd: '{{cwd}}', delegationDepth: 0 }
const log = (...events: object[]) =>
  parseTranscript([header, ...events].map((line) => `${JSON.stringify(line)}\n`).join(''))

const user = (text: string) => ({
  type: 'user/message',
  data: { content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: 'u' },
  surfaceOp: 'append',
})
const answered = (text: string) => [
  { type: 'assistant/chunk', data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text } } },
  { type: 'assistant/chunk', data: { turn: 1, step: 1, chunk: { type: 'finish', reason: { kind: 'stop' } } } },
  {
    type: 'assistant/message',
    data: {
      turn: 1,
      step: 1,
      message: { role: 'assistant', content: [{ type: 'text', text }], source: { kind: 'model' }, id: 'a' },
    },
    surfaceOp: 'append',
  },
]
const result = (text: string) => ({
  type: 'tool/result',
  data: {
    turn: 1,
    step: 1,
    message: {
      source: { kind: 'tool', callId: 'c1' },
      content: [{ type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text }], isError: false }],
      role: 'user',
      id: 'r',
    },
  },
  surfaceOp: 'append',
})

describe('comparing logs', () => {
  test('finds nothing in equal ones', () => {
    expect(
      compareLogs('session.jsonl', log(user('go'), ...answered('ok')), log(user('go'), ...answered('ok'))),
    ).toEqual([])
  })

  test('says that a recording has no starting files where the run misses one', () => {
    const want = log(user('go'), result('1 hello\n'), ...answered('b'))
    const got = log(user('go'), result('cannot read "{{cwd}}/greet.js": not found'), ...answered('b'))
    const findings = compareLogs('session.jsonl', want, got)
    const told = (workspace: string | undefined, found = findings) => startFindings({ workspace }, found)
    expect(told(undefined).map(({ title }) => title)).toEqual([
      'the session began without files: this recording has no workspace/ (a bare log takes --workspace DIR)',
    ])
    expect(told('/f/workspace')).toEqual([])
    expect(told(undefined, compareLogs('session.jsonl', got, want))).toEqual([])
  })

  test('says at which request the model would have seen something else, and what', () => {
    const want = log(user('go'), ...answered('a'), result('line 1\nnot found\n'), ...answered('b'))
    const got = log(user('go'), ...answered('a'), result('line 1\nno such file\n'), ...answered('b'))
    const [request, whole] = compareLogs('session.jsonl', want, got)
    expect(request).toMatchObject({ kind: 'request', title: 'request 2 (turn 1, step 1) is not the one recorded' })
    expect(request?.detail).toMatch(/message 3:\n[\s\S]*-.*not found[\s\S]*\+.*no such file/)
    expect(whole).toMatchObject({ kind: 'log' })
  })

  test('an event more shows as one event, not as a change of everything behind it', () => {
    const cited = { ...answered('b')[2], sourceEventSeqs: [1, 2] }
    const late = { ...answered('b')[2], sourceEventSeqs: [2, 3] }
    const chunks = answered('b').slice(0, 2)
    const step = { type: 'step/start', data: { turn: 1, step: 1 } }
    const findings = compareLogs(
      'session.jsonl',
      log(user('go'), ...chunks, cited),
      log(user('go'), step, ...chunks, late),
    )
    const diff = findings.find((finding) => finding.kind === 'log')?.detail ?? ''
    const changed = diff.split('\n').filter((line) => /^[-+][^-+]/.test(line))
    expect(changed).toEqual(['+step/start  turn 1  step 1'])
  })

  test('folds a replacement into the requests behind it', () => {
    const summary = { ...user('summary'), surfaceOp: { op: 'replace', start: 0, end: 3 }, sourceEventSeqs: [0, 3] }
    const requests = requestsOf(log(user('go'), ...answered('a'), summary, ...answered('b')))
    expect(requests.map((request) => request.messages.map((message) => message.seq))).toEqual([[0], [4]])
  })
})

describe('comparing trees', () => {
  test('names content, mode, missing, unexpected and kind, and reads text with tokens', async () => {
    const one = await tempWorkspace({
      same: 'x\n',
      text: 'a\nb\n',
      gone: '',
      run: { text: '#', mode: 0o755 },
      where: 'at {{cwd}}\n',
    })
    const two = await tempWorkspace({ same: 'x\n', text: 'a\nc\n', extra: 'e', run: '#', where: 'at /real/place\n' })
    await symlink('same', path.join(one.root, 'link'))
    await writeFile(path.join(two.root, 'link'), 'no link')
    await mkdir(path.join(two.root, 'empty'))
    const changes = compareTrees(await readTree(one.root), await readTree(two.root), (text) =>
      text.replace('/real/place', '{{cwd}}'),
    )
    expect(changes.map(({ path: file, what }) => [file, what])).toEqual([
      ['extra', 'unexpected'],
      ['gone', 'missing'],
      ['link', 'kind'],
      ['run', 'mode'],
      ['text', 'content'],
    ])
    expect(changes.at(-1)?.text).toContain('-b\n+c')
  })
})

test('a JUnit report carries each difference, escaped', () => {
  const driven = { primary: undefined, children: [], stderr: '', problem: undefined }
  const failed = {
    name: 'a<b',
    durationMs: 5,
    events: 1,
    driven,
    findings: [{ kind: 'log' as const, title: 'differs & how', detail: '-\u0001x' }],
  }
  const passed = { name: 'good', durationMs: 5, events: 1, driven, findings: [] }
  const xml = reportJunit([failed, passed], summaryOf([failed, passed], 10))
  expect(xml).toContain('<testsuites tests="2" failures="1" skipped="0" time="0.01">')
  expect(xml).toContain('<failure type="log" message="differs &amp; how">-\ufffdx</failure>')
  expect(xml).toContain('name="a&lt;b"')
})
