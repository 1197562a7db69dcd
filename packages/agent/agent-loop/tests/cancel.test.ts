import type { StreamChunk } from '@dsh/llm'
import { call, type Reply, say } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { harness, resultTexts, sleep, textTool } from './harness.ts'

async function* partial(text: string): AsyncIterable<StreamChunk> {
  yield { type: 'block-start', index: 0, blockType: 'text' }
  if (text !== '') yield { type: 'text-delta', index: 0, text }
  await new Promise(() => {})
}

async function settlesWithin(ms: number, work: Promise<unknown>): Promise<void> {
  const winner = await Promise.race([work.then(() => 'settled'), sleep(ms).then(() => 'late')])
  expect(winner).toBe('settled')
}

test('cancelling a stream keeps what was said so far, even when the provider does not listen', async () => {
  const run = await harness({ stream: () => partial('partial') })
  run.agent.followup('go')
  await sleep(30)
  run.agent.cancel({ kind: 'user' })
  await settlesWithin(1000, run.agent.whenIdle())
  const message = run.last('assistant/message')
  expect(message?.data).toMatchObject({ interrupted: true, message: { content: [{ type: 'text', text: 'partial' }] } })
  expect(message?.sourceEventSeqs).toEqual(run.all('assistant/chunk').map(({ seq }) => seq))
  expect(run.types().slice(-3)).toEqual(['assistant/message', 'step/end', 'turn/end'])
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
})

test('cancelling before anything was said leaves no assistant message', async () => {
  const run = await harness({ stream: () => partial('') })
  run.agent.followup('go')
  await sleep(30)
  run.agent.cancel({ kind: 'user' })
  await run.agent.whenIdle()
  expect(run.types()).not.toContain('assistant/message')
})

test('cancelling a batch gives every call its result: the running one aborted, the others never dispatched', async () => {
  const listening = textTool('wait', async (_args, { signal }) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true })
    })
    return 'stopped'
  })
  const reply: Reply = { calls: [1, 2, 3].map(() => ({ name: 'wait', args: {} })) }
  const run = await harness({ replies: [reply], tools: [listening] })
  run.agent.followup('go')
  await sleep(40)
  run.agent.cancel({ kind: 'user' })
  await run.agent.whenIdle()
  expect(resultTexts(run)).toEqual([
    'Error: tool call aborted',
    'Error: tool call aborted before dispatch',
    'Error: tool call aborted before dispatch',
  ])
  expect(run.all('tool/result').map(({ data }) => data.error?.code)).toEqual([
    'ABORTED',
    'ABORTED_BEFORE_DISPATCH',
    'ABORTED_BEFORE_DISPATCH',
  ])
  expect(run.all('tool/call')).toHaveLength(3)
})

test('a tool that ignores the signal holds a cancelled turn up for less than three seconds', async () => {
  const deaf = textTool('deaf', () => new Promise(() => {}))
  const run = await harness({ replies: [call('deaf', {})], tools: [deaf] })
  run.agent.followup('go')
  await sleep(40)
  run.agent.cancel({ kind: 'user' })
  await settlesWithin(3000, run.agent.whenIdle())
  expect(resultTexts(run)).toEqual(['Error: tool call aborted'])
})

test('a policy, an execute wrapper and a post-execute row that never answer are left behind too', async () => {
  const stages = ['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const
  const check = async (stage: (typeof stages)[number]) => {
    const stuck = {
      name: 'stuck',
      apply: async (ctx: import('@dsh/cordis').Context) => {
        ctx.on(stage, () => new Promise<never>(() => {}))
      },
    }
    const quick = textTool('quick', async () => 'ok')
    const run = await harness({ replies: [call('quick', {})], tools: [quick], rows: [{ module: stuck }] })
    run.agent.followup('go')
    await sleep(40)
    run.agent.cancel({ kind: 'user' })
    await settlesWithin(3000, run.agent.whenIdle())
    expect(run.all('tool/result'), stage).toHaveLength(1)
  }
  await Promise.all(stages.map(check))
})

test('cancel empties the queues unless told to keep them, and the first cause is the one that is logged', async () => {
  const run = await harness({ stream: () => partial('x') })
  run.agent.followup('go')
  run.agent.followup('queued')
  await sleep(30)
  run.agent.cancel({ kind: 'parent' }, { keepInbox: true })
  run.agent.cancel({ kind: 'user' })
  await run.agent.whenIdle()
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'parent' } })
  expect(run.agent.pending('next-turn')).toEqual([])
  expect(run.last('agent/inbox/spliced')?.data.outcome).toBe('canceled')
})

test('a prompt that arrives while a turn is ending becomes the next turn', async () => {
  let first = true
  const run = await harness({
    stream: async function* () {
      if (first) {
        first = false
        yield* partial('x')
      } else {
        yield { type: 'text-delta', index: 0, text: 'second' }
        yield { type: 'finish', reason: { kind: 'stop' } }
      }
    },
  })
  run.agent.followup('go')
  await sleep(30)
  run.agent.cancel({ kind: 'user' })
  run.agent.steer('and now this')
  await run.agent.whenIdle()
  expect(run.all('turn/end').map(({ data }) => data.reason.kind)).toEqual(['aborted', 'completed'])
})

test('a disposed agent ends its turn, refuses messages and keeps what was queued in its log', async () => {
  const run = await harness({ stream: () => partial('x') })
  run.agent.followup('go')
  run.agent.followup('queued')
  await sleep(30)
  await run.agent.dispose()
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'disposed' } })
  expect(run.agent.pending('next-turn')).toHaveLength(1)
  expect(() => run.agent.followup('no')).toThrow('is disposed')
  expect(run.ctx.agents.list()).toEqual([])
})

test('maintenance keeps turns out, and they keep it out', async () => {
  const run = await harness({ replies: [say('ok')] })
  let release: () => void = () => {}
  const job = run.agent.runMaintenance(
    () =>
      new Promise<void>((resolve) => {
        release = resolve
      }),
  )
  run.agent.followup('go')
  await expect(run.agent.runMaintenance(async () => {})).rejects.toThrow('already has active work')
  await sleep(20)
  expect(run.types()).not.toContain('turn/start')
  release()
  await job
  await run.agent.whenIdle()
  expect(run.last('turn/end')?.data.reason.kind).toBe('completed')
})

test('a maintenance job that does not listen cannot hold the end of its agent up', async () => {
  const run = await harness({ replies: [] })
  void run.agent.runMaintenance(() => new Promise(() => {}))
  await settlesWithin(3000, run.agent.dispose())
})

test('a row that never decides about a request or its failure cannot hold a cancelled turn up', async () => {
  const never = () => new Promise<never>(() => {})
  const decisions = ['agent/pre-step', 'agent/request', 'agent/request-error', 'agent/turn-stopping'] as const
  const check = async (decision: (typeof decisions)[number]) => {
    const stuck = {
      name: 'stuck',
      apply: async (ctx: import('@dsh/cordis').Context) => {
        ctx.on(decision, never)
      },
    }
    const reply = decision === 'agent/request-error' ? { failure: { code: 'SERVER', message: 'x' } } : say('ok')
    const run = await harness({ replies: [reply], rows: [{ module: stuck }] })
    run.agent.followup('go')
    await sleep(40)
    run.agent.cancel({ kind: 'user' })
    await settlesWithin(3000, run.agent.whenIdle())
    expect(run.last('turn/end')?.data.reason, decision).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
    const after = run.session.events.length
    await sleep(20)
    expect(run.session.events.length).toBe(after)
  }
  await Promise.all(decisions.map(check))
})
