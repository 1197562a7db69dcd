import { describe, expect, test } from 'vitest'
import {
  normalise,
  parseTranscript,
  projectTranscript,
  readableLines,
  scriptFor,
  textNormaliser,
} from '../src/index.ts'

const header = { type: 'session', version: 0, id: 'session-1', createdAt: 7, cwd: '/tmp/run', delegationDepth: 0 }

function log(...events: object[]): string {
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('')
}

function delta(text: string): object {
  return { type: 'assistant/chunk', data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text } } }
}

function callDelta(argumentsDelta: string): object {
  const chunk = { type: 'tool-call-delta', index: 1, id: 'c1', name: 'read', argumentsDelta }
  return { type: 'assistant/chunk', data: { turn: 1, step: 1, chunk } }
}

describe('reading a transcript', () => {
  test('gives the same events for packed rows as for the events they stand for', () => {
    const packed = {
      type: 'text-chunks',
      data: { turn: 1, step: 1, index: 0, dt: [4, -1], texts: ['a', 'b', 'c'] },
    }
    const expanded = parseTranscript(log(packed)).events
    expect(expanded.map((event) => [event.seq, event.time])).toEqual([
      [0, 0],
      [1, 4],
      [2, 3],
    ])
    expect(expanded.map((event) => event.data)).toEqual(
      parseTranscript(log(delta('a'), delta('b'), delta('c'))).events.map((e) => e.data),
    )
  })

  test('names the line that is no JSON', () => {
    expect(() => parseTranscript(`${JSON.stringify(header)}\n{"type"`)).toThrow(
      'session snapshot line 2 contains invalid JSON',
    )
  })

  test('projects without seq and time, and packs runs whatever the flushes were', () => {
    const text = projectTranscript(
      parseTranscript(log(delta('a'), delta('b'), delta('c'), { type: 'step/end', data: { turn: 1, step: 1 } })),
    )
    expect(text.split('\n').slice(1, -1)).toEqual([
      '{"type":"text-chunks","data":{"turn":1,"step":1,"index":0,"dt":[0,0],"texts":["a","b","c"]}}',
      '{"type":"step/end","data":{"turn":1,"step":1}}',
    ])
    expect(projectTranscript(parseTranscript(text))).toBe(text)
  })
})

describe('normalising', () => {
  const text = (value: string, more = {}) =>
    textNormaliser({ cwd: ['/tmp/run', '/tmp/run/real'], ...more }).replace(value)

  test('replaces the directory at path boundaries only, the longest spelling first', () => {
    expect(text('in /tmp/run/a.txt, file:///tmp/run and "/tmp/run".')).toBe(
      'in {{cwd}}/a.txt, file://{{cwd}} and "{{cwd}}".',
    )
    expect(text('/tmp/running /tmp/run.old x/tmp/run /tmp/run/real/x')).toBe(
      '/tmp/running /tmp/run.old x/tmp/run {{cwd}}/x',
    )
    expect(text('/private/tmp/run/a')).toBe('/private/tmp/run/a')
  })

  test('replaces ids and spill files, and nothing twice', () => {
    const spilled = '/home/x/spill/session-0123456789ab/abcdef012345-bash.txt'
    const once = text(`${spilled} 5b0e8a4c-8b7e-4d2e-9f00-0123456789ab session-1`, { sessionIds: ['session-1'] })
    expect(once).toBe('{{spillLocator:bash.txt}} {{sessionId}} {{sessionId}}')
    expect(text(once)).toBe(once)
  })

  test("applies a fixture's own rules", () => {
    const rules = [{ pattern: '^# duration_ms [0-9.]+$', replace: '# duration_ms 0' }]
    expect(text('ok 1\n# duration_ms 12.5\n', { rules })).toBe('ok 1\n# duration_ms 0\n')
  })

  test('finds a directory that the model streamed in pieces', () => {
    const pieces = [callDelta('{"path":"/tm'), callDelta('p/ru'), callDelta('n/a.txt"}')]
    const whole = [callDelta('{"path":"/tmp/run'), callDelta(''), callDelta('/a.txt"}')]
    const lines = (...events: object[]) =>
      readableLines(normalise(parseTranscript(log(...events)), { cwd: ['/tmp/run'] }))
    expect(lines(...pieces)).toEqual(lines(...whole))
    expect(lines(...pieces).join('\n')).toContain('{{cwd}}')
  })

  test('zeroes times and tokenises prompt and schemas, and is a fixed point', () => {
    const request = {
      type: 'request/header',
      time: 9,
      data: { header: { config: { provider: 'p', model: 'm' }, system: 'be good', tools: [] }, reason: 'initial' },
    }
    const once = normalise(parseTranscript(log(request)), { cwd: ['/tmp/run'] })
    expect(once.header).toMatchObject({ createdAt: 0, cwd: '{{cwd}}', id: '{{sessionId}}' })
    expect(once.events[0]).toMatchObject({ time: 0, data: { header: { system: '{{system}}', tools: '{{tools}}' } } })
    expect(normalise(once, { cwd: [] })).toEqual(once)
  })
})

describe('a script for the scratch copy', () => {
  test('has the recorded directory and the token replaced, also across deltas', () => {
    const made = scriptFor(
      parseTranscript(log(callDelta('{"path":"{{c'), callDelta('wd}}/a","b":"/tmp/run/c"}'))),
      '/scratch/w',
    )
    const pieces = made.events.map((event) => (event.data['chunk'] as { argumentsDelta: string }).argumentsDelta)
    expect(pieces).toEqual(['{"path":"/scratch/w', '/a","b":"/scratch/w/c"}'])
    expect(made.header['cwd']).toBe('/scratch/w')
  })
})
