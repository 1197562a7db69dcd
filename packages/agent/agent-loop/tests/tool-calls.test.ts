import type { Reply } from '@dsh/testkit'
import { say } from '@dsh/testkit'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { harness, resultTexts, sleep, textTool } from './harness.ts'

const batch = (...names: [string, object][]): Reply => ({ calls: names.map(([name, args]) => ({ name, args })) })

function nap(log: string[]) {
  return textTool(
    'nap',
    async (args) => {
      const { id, ms } = args as { id: string; ms: number }
      log.push(`+${id}`)
      await sleep(ms)
      log.push(`-${id}`)
      return id
    },
    { isConcurrencySafe: (args: { alone?: boolean }) => args.alone !== true },
  )
}

test('safe calls overlap and their results stay in model order, whatever finishes first', async () => {
  const log: string[] = []
  const calls = batch(['nap', { id: 'a', ms: 60 }], ['nap', { id: 'b', ms: 10 }], ['nap', { id: 'c', ms: 30 }])
  const run = await harness({ replies: [calls, say('ok')], tools: [nap(log)] })
  await run.turn('go')
  expect(log.slice(0, 3)).toEqual(['+a', '+b', '+c'])
  expect(log.slice(3)).toEqual(['-b', '-c', '-a'])
  expect(resultTexts(run)).toEqual(['a', 'b', 'c'])
})

test('a call that is not safe together with others waits for them, and they for it', async () => {
  const log: string[] = []
  const calls = batch(
    ['nap', { id: 'a', ms: 30 }],
    ['nap', { id: 'b', ms: 10 }],
    ['nap', { id: 'X', ms: 10, alone: true }],
    ['nap', { id: 'c', ms: 1 }],
  )
  const run = await harness({ replies: [calls, say('ok')], tools: [nap(log)] })
  await run.turn('go')
  expect(log).toEqual(['+a', '+b', '-b', '-a', '+X', '-X', '+c', '-c'])
})

test('at most ten bodies run at once', async () => {
  let live = 0
  let peak = 0
  const tool = textTool(
    'count',
    async () => {
      peak = Math.max(peak, ++live)
      await sleep(20)
      live--
      return 'x'
    },
    { isConcurrencySafe: () => true },
  )
  const calls = batch(...Array.from({ length: 14 }, (): [string, object] => ['count', {}]))
  const run = await harness({ replies: [calls, say('ok')], tools: [tool] })
  await run.turn('go')
  expect(peak).toBe(10)
  expect(resultTexts(run)).toHaveLength(14)
})

test('policies run one at a time, in model order, also for calls whose bodies overlap', async () => {
  const order: string[] = []
  const slowPolicy = {
    name: 'slow-policy',
    apply: async (ctx: import('@dsh/cordis').Context) => {
      ctx.on('tools/pre-execute', async (exec, next) => {
        order.push(`pre ${exec.arguments.id}`)
        await sleep(exec.arguments.id === 'a' ? 30 : 1)
        order.push(`ok ${exec.arguments.id}`)
        return next()
      })
      ctx.on('tools/post-execute', async (exec, _result, next) => {
        order.push(`post ${exec.arguments.id}`)
        return next()
      })
    },
  }
  const calls = batch(['nap', { id: 'a', ms: 60 }], ['nap', { id: 'b', ms: 1 }])
  const run = await harness({ replies: [calls, say('ok')], tools: [nap([])], rows: [{ module: slowPolicy }] })
  await run.turn('go')
  expect(order).toEqual(['pre a', 'ok a', 'pre b', 'ok b', 'post a', 'post b'])
})

test('contexts of a result reach the model at the next step, after all results', async () => {
  const tool = textTool('tell', async (_args, exec) => {
    exec.deferContext({
      content: [{ type: 'text', text: 'by the way' }],
      source: { kind: 'plugin', plugin: 'test' },
      role: 'user',
      id: 'context-1',
    })
    return 'told'
  })
  const run = await harness({ replies: [batch(['tell', {}], ['tell', {}]), say('ok')], tools: [tool] })
  // Two equal ids cannot wait at once: the second one is a failure of the turn, not of the log.
  await run.turn('go')
  expect(run.last('turn/end')?.data.reason.kind).toBe('error')

  const single = await harness({ replies: [batch(['tell', {}]), say('ok')], tools: [tool] })
  await single.turn('go')
  expect(single.requests[1]?.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'by the way' }])
})

test('a result that concludes the turn ends it without another request', async () => {
  const tool = textTool('finish', async (_args, exec) => {
    exec.concludeTurn()
    return 'over'
  })
  const run = await harness({ replies: [batch(['finish', {}])], tools: [tool] })
  await run.turn('go')
  expect(run.requests).toHaveLength(1)
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'completed' })
})

test('whatever the mix of calls: results in model order, an exclusive body alone, never more than the cap', async () => {
  const callsOf = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 6 }), alone: fc.boolean() }), {
    minLength: 1,
    maxLength: 9,
  })
  const property = fc.asyncProperty(callsOf, fc.integer({ min: 1, max: 4 }), async (calls, cap) => {
    const live = new Set<number>()
    const problems: string[] = []
    const tool = textTool(
      'job',
      async (args) => {
        const { id, ms, alone } = args as { id: number; ms: number; alone: boolean }
        live.add(id)
        if (live.size > cap) problems.push(`${live.size} at once`)
        if (live.size > 1 && [...live].some((other) => calls[other]!.alone)) problems.push(`${id} is not alone`)
        await sleep(ms)
        live.delete(id)
        return `${id}${alone ? '!' : ''}`
      },
      { isConcurrencySafe: (args: { alone: boolean }) => !args.alone },
    )
    const reply = batch(...calls.map((shape, id): [string, object] => ['job', { id, ...shape }]))
    const run = await harness({ replies: [reply, say('ok')], tools: [tool], loop: { maxParallelToolCalls: cap } })
    await run.turn('go')
    expect(problems).toEqual([])
    expect(resultTexts(run)).toEqual(calls.map(({ alone }, id) => `${id}${alone ? '!' : ''}`))
    const order = run.session.events
      .filter(({ type }) => type === 'tool/call')
      .map(({ data }) => (data as { callId: string }).callId)
    const cited = run.all('tool/result').map(({ sourceEventSeqs }) => run.session.events[sourceEventSeqs![0]!]!.data)
    expect(cited.map((data) => (data as { callId: string }).callId)).toEqual(order)
    await run.close()
  })
  await fc.assert(property, { numRuns: 25, seed: 7 })
})
