import { Context } from '@dsh/cordis'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import * as meterRow from '@dsh/token-meter'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as prunerRow from '../src/index.ts'
import { pruneMarker, pruneText } from '../src/prune-text.ts'

const rule = { thresholdChars: 8192, headChars: 4096, tailChars: 1024, keepErrorLines: true }

test('a text at the threshold stays, one more code point is pruned to head, marker and tail', () => {
  expect(pruneText('x'.repeat(8192), rule)).toBeUndefined()
  const text = `${'a'.repeat(4096)}${'b'.repeat(4000)}${'c'.repeat(1024)}`
  expect(pruneText(text, rule)).toBe(`${'a'.repeat(4096)}${pruneMarker}${'c'.repeat(1024)}`)
})

test('length is counted in code points, and none is split', () => {
  expect(pruneText('😀'.repeat(8192), rule)).toBeUndefined()
  expect(pruneText('😀'.repeat(9000), rule)).toBe(`${'😀'.repeat(4096)}${pruneMarker}${'😀'.repeat(1024)}`)
})

test('lines about errors survive from the middle, and the result stays below the threshold', () => {
  const noise = 'all is well here\n'.repeat(300)
  const text = `${noise}src/a.ts(3,1): error TS2304: cannot find name\n${noise}FAILED tests/b.test.ts\n${noise}`
  const pruned = pruneText(text, rule) as string
  expect(pruned).toContain('src/a.ts(3,1): error TS2304: cannot find name\nFAILED tests/b.test.ts')
  expect(pruned.length).toBeLessThan(8192)
  expect(pruneText(text, { ...rule, keepErrorLines: false })).not.toContain('TS2304')
})

test('a flood of error lines is bounded', () => {
  const pruned = pruneText(Array.from({ length: 2000 }, (_, i) => `error ${i}: bad`).join('\n'), rule) as string
  expect(pruned.length).toBeLessThan(8192)
})

let ctx: Context
let session: Session
beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(sessionRow)
  await ctx.plugin(meterRow, meterRow.Config.parse({}))
  await ctx.plugin(prunerRow, prunerRow.Config.parse({}))
  session = ctx.get('sessions')!.create({ ephemeral: true })
})
afterEach(() => ctx.fiber.dispose())

function result(text: string) {
  return session.append(
    'tool/result',
    {
      turn: 1,
      step: 1,
      message: {
        source: { kind: 'tool', callId: 'c1' },
        content: [{ type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text }], isError: true }],
        role: 'user',
        id: 'm1',
      },
      error: { name: 'E', code: 'X' },
      meta: { exitCode: 1 },
    },
    { surfaceOp: 'append' },
  )
}

test('a pruned result takes the place of the old one: same message, same facts, shorter text', () => {
  const short = result('short')
  const { seq, data } = result('x'.repeat(10_000))
  const pruner = ctx.get('toolResultPruner')!
  const expected = pruner.wouldFree(session, [short.seq, seq])
  expect(expected).toBeGreaterThan(1000)
  expect(pruner.prune(session, [short.seq, seq])).toBe(expected)
  const [prune, replaced] = session.events.slice(-2)
  expect(prune).toMatchObject({
    type: 'compaction/prune',
    data: { shadowedRange: { start: seq, end: seq }, shadowedSeqs: [seq], shadowedTokenCount: 2508 },
  })
  expect(replaced).toMatchObject({
    type: 'tool/result',
    surfaceOp: { op: 'replace', start: seq, end: seq },
    sourceEventSeqs: [seq],
    data: { turn: 1, step: 1, error: data.error, meta: data.meta, message: { id: 'm1', source: data.message.source } },
  })
  expect(session.surface).toEqual([short.seq, replaced?.seq])
  expect(pruner.prune(session, session.surface)).toBe(0)
})

test('a head and tail that leave no room below the threshold are refused', () => {
  expect(() => prunerRow.Config.parse({ thresholdChars: 100, headChars: 60, tailChars: 40 })).toThrow(
    'must not be longer',
  )
})
