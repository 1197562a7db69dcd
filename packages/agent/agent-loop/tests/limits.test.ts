import type { Context } from '@dsh/cordis'
import type { StreamChunk } from '@dsh/llm'
import { call } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { repeatedUnit } from '../src/runaway.ts'
import { harness, sleep, textTool } from './harness.ts'

let n = 0
const tick = textTool('tick', async () => `tick ${n++}`)
const same = textTool('same', async () => 'same')
const forever = (name: string) => Array.from({ length: 60 }, () => call(name, {}))

test('a turn stops at its number of requests, says so, and leaves every call answered', async () => {
  const run = await harness({ replies: forever('tick'), tools: [tick], agent: { limits: { maxTurns: 3 } } })
  await run.turn('go')
  expect(run.requests).toHaveLength(3)
  expect(run.last('turn/end')?.data.reason).toEqual({
    kind: 'aborted',
    reason: { kind: 'hook', reason: 'the limit of 3 model requests per turn is reached' },
  })
  expect(run.last('turn/limit')).toMatchObject({ ignorable: true, data: { limit: 'max-turns', value: 3, max: 3 } })
  expect(run.all('tool/result')).toHaveLength(3)
})

test('the clock stops a turn in the middle of a tool', async () => {
  const slow = textTool('slow', (_args, { signal }) => {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve('stopped'), { once: true })
    })
  })
  const run = await harness({ replies: [call('slow', {})], tools: [slow], agent: { limits: { maxWallMs: 100 } } })
  await run.turn('go')
  expect(run.last('turn/limit')?.data).toMatchObject({ limit: 'max-wall-time', max: 100 })
  expect(run.last('turn/end')?.data.reason).toMatchObject({ kind: 'aborted', reason: { kind: 'hook' } })
})

test('a budget stops the turn before the request that would exceed it further', async () => {
  let spent = 0
  const meter = {
    name: 'meter',
    apply: async (ctx: Context) => {
      ctx.provide('tokenMeter', {
        totals: () => {
          spent += 0.4
          return { costUsd: spent }
        },
      } as never)
    },
  }
  const run = await harness({
    replies: forever('tick'),
    tools: [tick],
    rows: [{ module: meter }],
    agent: { limits: { maxBudgetUsd: 1 } },
  })
  await run.turn('go')
  // What the session had cost before (0.4) does not count.
  expect(run.requests).toHaveLength(2)
  expect(run.last('turn/limit')?.data).toMatchObject({ limit: 'max-budget', max: 1 })
})

test('the same call with the same result is stopped, a call whose result changes is not', async () => {
  const stuck = await harness({ replies: forever('same'), tools: [same] })
  await stuck.turn('go')
  expect(stuck.last('turn/limit')?.data).toMatchObject({ limit: 'identical-steps', value: 20 })
  const alive = await harness({ replies: forever('tick'), tools: [tick], agent: { limits: { maxTurns: 40 } } })
  await alive.turn('go')
  expect(alive.last('turn/limit')?.data.limit).toBe('max-turns')
})

test('an answer that repeats itself without end is cut, and the copies do not stay in the history', async () => {
  let sent = 0
  const run = await harness({
    stream: async function* (): AsyncIterable<StreamChunk> {
      yield { type: 'text-delta', index: 0, text: 'Let me think. ' }
      while (sent++ < 100_000) {
        yield { type: 'text-delta', index: 0, text: 'I will try again. ' }
        if (sent % 100 === 0) await sleep(0)
      }
    },
  })
  await run.turn('go')
  expect(sent).toBeLessThan(1000)
  expect(run.last('turn/limit')?.data.limit).toBe('degenerate-output')
  const [block] = run.last('assistant/message')!.data.message.content
  expect((block as { text: string }).text.length).toBeLessThan(100)
})

test('long lines of code, tables and indentation are no repetition', () => {
  expect(repeatedUnit(' '.repeat(4096))).toBeUndefined()
  const table = Array.from({ length: 200 }, (_, i) => `| row ${i} | ${i * i} |`).join('\n')
  expect(repeatedUnit(table.slice(0, 4096))).toBeUndefined()
  expect(repeatedUnit('ab'.repeat(2048))).toBe(2)
})
