import { Context } from '@dsh/cordis'
import type { TokenUsage } from '@dsh/llm'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as meterRow from '../src/index.ts'

let ctx: Context
let session: Session
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-09-01T12:00:00Z') })
  ctx = new Context()
  await ctx.plugin(sessionRow)
  await ctx.plugin(meterRow, meterRow.Config.parse({}))
  session = ctx.get('sessions')!.create({ ephemeral: true })
})
afterEach(async () => {
  await ctx.fiber.dispose()
  vi.useRealTimers()
})
const meter = () => ctx.get('tokenMeter')!

function header(model = 'deepseek-v4-flash', system?: string) {
  session.append('request/header', {
    header: { config: { provider: 'deepseek-official', model }, ...(system === undefined ? {} : { system }) },
    reason: 'initial',
  })
}
function say(text: string) {
  session.append(
    'user/message',
    { content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: text },
    { surfaceOp: 'append' },
  )
}
function used(usage: TokenUsage, step = 1) {
  session.append('assistant/chunk', { turn: 1, step, chunk: { type: 'usage', usage } })
}
function answered(usage: TokenUsage) {
  used(usage)
  session.append(
    'assistant/message',
    {
      turn: 1,
      step: 1,
      usage,
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'ok' }],
        source: { kind: 'model', provider: 'deepseek-official', model: 'deepseek-v4-flash' },
        id: 'a',
      },
    },
    { surfaceOp: 'append', sourceEventSeqs: [] },
  )
}

test('tokens, hit ratio and dollars add up over calls, retries included', () => {
  header()
  used({ inputTokens: 1_000_000, outputTokens: 0 })
  used({ inputTokens: 0, outputTokens: 1_000_000, cacheReadTokens: 1_000_000, reasoningTokens: 7 }, 2)
  const totals = meter().totals(session)
  expect(totals).toMatchObject({
    calls: 2,
    inputTokens: 1_000_000,
    outputTokens: 1_000_000,
    cacheReadTokens: 1_000_000,
    reasoningTokens: 7,
    cacheHitRatio: 0.5,
    costKnown: true,
  })
  expect(totals.costUsd).toBeCloseTo(0.22 + 0.007 + 0.66, 10)
  expect(meter().spentUsd(session)).toBe(totals.costUsd)
  expect(
    meter()
      .step(session, 1, 2)
      .map((call) => call.usage.outputTokens),
  ).toEqual([1_000_000])
  expect(meter().lastCall(session)).toMatchObject({ kind: 'answer', turn: 1, step: 2, model: 'deepseek-v4-flash' })
})

test('peak hours cost what the table says', () => {
  header()
  vi.setSystemTime(Date.parse('2026-09-01T06:00:00Z'))
  used({ inputTokens: 1_000_000, outputTokens: 0 })
  expect(meter().totals(session).costUsd).toBeCloseTo(0.44, 10)
})

test('a model without prices makes the cost unknown, not nothing', () => {
  header('some-other-model')
  used({ inputTokens: 5, outputTokens: 5 })
  expect(meter().totals(session)).toMatchObject({ costUsd: 0, costKnown: false })
  expect(meter().spentUsd(session)).toBeUndefined()
  expect(meter().price('deepseek-official', 'some-other-model')).toBeUndefined()
})

test('a summary is billed, too', () => {
  header()
  say('hi')
  session.append('compaction/summary', {
    compactionId: 'c',
    summary: [],
    shadowedRange: { start: 1, end: 1 },
    shadowedSeqs: [1],
    shadowedTokenCount: 1,
    provider: 'deepseek-official',
    model: 'deepseek-v4-flash',
    usage: { inputTokens: 0, outputTokens: 1_000_000 },
  })
  expect(meter().totals(session).costUsd).toBeCloseTo(0.66, 10)
  expect(meter().lastCall(session)?.kind).toBe('compaction')
})

test('what a fork inherited is its parent’s bill', () => {
  header()
  used({ inputTokens: 10, outputTokens: 10 })
  const fork = ctx.get('sessions')!.create({
    ephemeral: true,
    parentSession: session.id,
    seed: [...session.events],
    seedLength: session.events.length,
  })
  expect(meter().totals(fork).calls).toBe(0)
  fork.append('assistant/chunk', {
    turn: 1,
    step: 1,
    chunk: { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } },
  })
  expect(meter().totals(fork)).toMatchObject({ calls: 1, costKnown: true })
})

test('context is estimated at four characters a token, with a little for each frame', () => {
  header('deepseek-v4-flash', 'x'.repeat(40))
  say('y'.repeat(400))
  expect(meter().contextTokens(session)).toBe(10 + 4 + (100 + 4 + 4))
})

test('a real count anchors the estimate until history or header change', () => {
  header()
  say('hi')
  answered({ inputTokens: 9000, outputTokens: 100, cacheReadTokens: 900 })
  say('y'.repeat(400))
  expect(meter().contextTokens(session)).toBe(10_000 + 108)
  header()
  expect(meter().contextTokens(session)).toBeLessThan(200)
})

test('after a replacement the estimate is that of what is left', () => {
  header()
  say('y'.repeat(4000))
  const [, prompt] = session.events
  expect(meter().contextTokens(session)).toBe(1008)
  session.append(
    'user/message',
    { content: [{ type: 'text', text: 'short' }], source: { kind: 'user' }, role: 'user', id: 'r' },
    { sourceEventSeqs: [prompt!.seq], surfaceOp: { op: 'replace', start: prompt!.seq, end: prompt!.seq } },
  )
  expect(meter().contextTokens(session)).toBe(2 + 8)
  say('four')
  expect(meter().contextTokens(session)).toBe(10 + 9)
})
