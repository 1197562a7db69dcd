import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseLog } from '@dsh/session'
import { describe, expect, test } from 'vitest'
import { applyOverride } from '../src/override.ts'
import { deriveScript, requireFinished, type ScriptEntry } from '../src/script.ts'

const line = (type: string, data: object) => JSON.stringify({ type, data })
const chunk = (step: number, value: object) => line('assistant/chunk', { turn: 1, step, chunk: value })
const finish = (step: number, kind = 'stop') => chunk(step, { type: 'finish', reason: { kind } })
const log = (...lines: string[]) =>
  parseLog(['{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0}', ...lines].join('\n'))

test('a call is what lies up to a finish, so a step may hold several', () => {
  const script = deriveScript(log(finish(1, 'error'), finish(1), finish(2)))
  expect(script.calls.map((call) => call.kind)).toEqual(['chunks', 'chunks', 'chunks'])
})

test('packed rows are played as the deltas that they hold', () => {
  const script = deriveScript(
    log(line('text-chunks', { turn: 1, step: 1, index: 0, dt: [1, 1], texts: ['a', 'b', 'c'] }), finish(1)),
  )
  expect(script.calls).toEqual([
    {
      kind: 'chunks',
      chunks: [
        { type: 'text-delta', index: 0, text: 'a' },
        { type: 'text-delta', index: 0, text: 'b' },
        { type: 'text-delta', index: 0, text: 'c' },
        { type: 'finish', reason: { kind: 'stop' } },
      ],
    },
  ])
})

test('a summary that a model wrote is a call of its own, between its neighbours', () => {
  const script = deriveScript(
    log(
      finish(1, 'error'),
      line('compaction/summary', {
        rawOutput: [{ type: 'text', text: 'S' }],
        llmStreamCall: true,
        usage: { inputTokens: 1, outputTokens: 2 },
      }),
      finish(1),
    ),
  )
  expect(script.calls[1]).toEqual({
    kind: 'chunks',
    chunks: [
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'block-end', index: 0, block: { type: 'text', text: 'S' } },
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
      { type: 'finish', reason: { kind: 'stop' } },
    ],
  })
  expect(() => deriveScript(log(line('compaction/summary', { llmStreamCall: true })))).toThrow(
    'llm-replay: compaction/summary marks an LLM stream call without rawOutput',
  )
})

test('a stream that broke off needs a sidecar, and is named', () => {
  const script = deriveScript(log(chunk(1, { type: 'text-delta', index: 0, text: 'x' }), finish(2)))
  expect(() => requireFinished(script.calls)).toThrow(
    'llm-replay: model call 1/1 ended without a finish chunk (a thrown stream); this scenario needs a replay.override.json sidecar',
  )
})

test('what a child inherited is not its own script', () => {
  const parsed = parseLog(
    [
      '{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":1,"seedLength":1}',
      finish(1),
      finish(2),
    ].join('\n'),
  )
  expect(deriveScript(parsed).calls.length).toBe(1)
})

describe('an override', () => {
  const calls: ScriptEntry[] = [{ kind: 'chunks', chunks: [] }]
  const thrown = { kind: 'throw', chunks: [], message: 'busy', code: 'RATE_LIMIT' }

  test('as a list replaces the script', () => {
    expect(applyOverride([], JSON.stringify([thrown]), 'f')).toEqual([thrown])
  })
  test('as patches replaces calls, and appends one behind the last', () => {
    const text = JSON.stringify({
      patches: [
        { at: 1, entry: thrown },
        { at: 0, entry: { kind: 'hang', readyFile: 'r' } },
      ],
    })
    expect(applyOverride(calls, text, 'f')).toEqual([{ kind: 'hang', readyFile: 'r' }, thrown])
  })
  test.each([
    [
      { patches: [{ at: 2, entry: thrown }] },
      'override patch index 2 out of range (derived script has 1 call(s); == length appends): f',
    ],
    [
      {
        patches: [
          { at: 0, entry: thrown },
          { at: 0, entry: thrown },
        ],
      },
      'duplicate override patch index 0: f',
    ],
    [[{ ...thrown, extra: 1 }], 'invalid override f: [0]'],
    [[{ kind: 'hang' }], 'invalid override f: [0].readyFile'],
  ])('%j is refused by name', (value, want) => {
    expect(() => applyOverride(calls, JSON.stringify(value), 'f')).toThrow(want)
  })
})

const shared = process.env['DSH_SHARED'] ?? path.resolve(import.meta.dirname, '../../../../../shared')
const recorded = path.join(shared, 'data/reference-logs')
describe.skipIf(!existsSync(recorded))('recorded logs of the reference product', () => {
  const files = existsSync(recorded)
    ? readdirSync(recorded, { recursive: true, encoding: 'utf8' }).filter((file) =>
        /session(\.\d+)?\.jsonl$|replay\.jsonl$/.test(file),
      )
    : []
  test.each(files)('%s gives a script, or the named error for a broken stream', (file) => {
    const text = readFileSync(path.join(recorded, file), 'utf8')
    const script = deriveScript(parseLog(text))
    const finishes = script.calls.filter((call) => call.kind === 'chunks').length
    const broken = script.calls.some((call) => call.kind === 'unfinished')
    expect(finishes > 0 || broken || !text.includes('assistant/chunk')).toBe(true)
    if (broken) expect(() => requireFinished(script.calls)).toThrow('ended without a finish chunk')
  })
})
