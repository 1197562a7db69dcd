import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expand, openRunStart, pack, unpack } from '../src/index.ts'
import type { SessionEvent } from '../src/types.ts'

const delta = (seq: number, text: string, extra: object = {}, time = 0) =>
  ({
    type: 'assistant/chunk',
    seq,
    time,
    data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text, ...extra } },
  }) as unknown as SessionEvent

describe('packed rows', () => {
  it('have the shape of the format, negative time differences included', () => {
    const run = [delta(5, 'He', {}, 100), delta(6, 'l', {}, 90), delta(7, 'lo', {}, 120)]
    expect(JSON.stringify(pack(run))).toBe(
      '[{"type":"text-chunks","seq0":5,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[-10,30],"texts":["He","l","lo"]}}]',
    )
  })

  it('start at three deltas and end where a block does', () => {
    const end = {
      type: 'assistant/chunk',
      seq: 9,
      time: 0,
      data: { turn: 1, step: 1, chunk: { type: 'block-end', index: 0, block: { type: 'text', text: '' } } },
    } as unknown as SessionEvent
    expect(pack([delta(0, 'a'), delta(1, 'b')]).length).toBe(2)
    expect(pack([delta(6, 'a'), delta(7, 'b'), delta(8, 'c'), end]).map((row) => row.type)).toEqual([
      'text-chunks',
      'assistant/chunk',
    ])
    expect(openRunStart([end, delta(10, 'a'), delta(11, 'b')])).toBe(1)
    expect(openRunStart([delta(0, 'a'), end])).toBe(2)
    expect(openRunStart([delta(0, 'a'), delta(1, 'b', { index: 1 })])).toBe(1)
  })

  const chunk = fc.oneof(
    fc.record({
      type: fc.constantFrom('text-delta', 'reasoning-delta'),
      index: fc.integer({ min: 0, max: 1 }),
      text: fc.string({ unit: 'grapheme' }),
    }),
    fc.record({
      type: fc.constant('tool-call-delta'),
      index: fc.integer({ min: 0, max: 1 }),
      id: fc.constantFrom('a', 'b'),
      argumentsDelta: fc.string(),
    }),
    fc.record({
      type: fc.constant('tool-call-delta'),
      index: fc.integer({ min: 0, max: 1 }),
      id: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('x', 'y'),
      argumentsDelta: fc.string(),
    }),
    fc.constant({ type: 'finish', reason: { kind: 'stop' } }),
  )
  it('expand to exactly what was packed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(chunk, fc.integer(), fc.integer({ min: 1, max: 2 })), { maxLength: 40 }),
        (list) => {
          const events = list.map(
            ([one, time, step], seq) =>
              ({ type: 'assistant/chunk', seq, time, data: { turn: 1, step, chunk: one } }) as unknown as SessionEvent,
          )
          const rows = pack(events).map((row) => JSON.parse(JSON.stringify(row)) as Record<string, unknown>)
          expect(rows.flatMap((row) => JSON.stringify(expand(row)).slice(1, -1)).join()).toBe(
            JSON.stringify(events).slice(1, -1),
          )
        },
      ),
      { numRuns: 300, seed: 1 },
    )
  })

  const good = {
    type: 'text-chunks',
    seq0: 0,
    time0: 0,
    data: { turn: 1, step: 1, index: 0, dt: [1], texts: ['a', 'b'] },
  }
  it.each<[string, object]>([
    ['an extra key', { ...good, x: 1 }],
    ['a missing number', { ...good, seq0: undefined }],
    ['a short dt', { ...good, data: { ...good.data, dt: [] } }],
    ['an odd text', { ...good, data: { ...good.data, texts: ['a', 1] } }],
    ['no text', { ...good, data: { ...good.data, dt: [], texts: [] } }],
    ['a fraction', { ...good, data: { ...good.data, dt: [0.5] } }],
    ['another payload', { ...good, data: { ...good.data, args: ['a', 'b'] } }],
  ])('with %s are refused', (_what, row) => {
    expect(() => unpack(row as never)).toThrow('malformed text-chunks storage row: ')
  })
})
