import type { Agent } from '@dsh/agent'
import * as agentRow from '@dsh/agent'
import * as loopRow from '@dsh/agent-loop'
import * as prunerRow from '@dsh/compaction-tool-result-pruner'
import type { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import * as llmRow from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import * as systemPromptRow from '@dsh/system-prompt'
import { bootRows, call, chunksOf, type Reply, say, tempWorkspace } from '@dsh/testkit'
import * as meterRow from '@dsh/token-meter'
import * as toolsRow from '@dsh/tools'
import { expect, test } from 'vitest'
import * as compactionRow from '../src/index.ts'

type Answer = Reply | { readonly hang: true }

interface Scene {
  readonly ctx: Context
  readonly agent: Agent
  readonly requests: GenerateOptions[]
  readonly stderr: readonly string[]
  turn(text: string): Promise<void>
  types(): string[]
}

/** Real rows; a scripted model with a window; a tool `big` that answers with so many characters. */
async function scene(
  answers: readonly Answer[],
  options: { readonly window?: number; readonly config?: object; readonly pruner?: boolean } = {},
): Promise<Scene> {
  const home = await tempWorkspace()
  const requests: GenerateOptions[] = []
  const model = {
    name: 'scripted-model',
    inject: ['llm', 'tools'],
    apply: async (ctx: Context) => {
      ctx.llm.register({
        route: 'p',
        providerInfo: () => ({ id: 'p', name: 'P' }),
        resolveModel: (id, provider) => ({
          provider,
          id,
          name: id,
          ...(options.window === undefined ? {} : { context: { contextWindow: options.window } }),
        }),
        stream: (request) => answer(request),
      })
      ctx.tools.register({
        name: 'big',
        description: 'd',
        parameters: { type: 'object', properties: { size: { type: 'integer' } } },
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
        execute: async ({ size }: { size: number }) => 'x'.repeat(size),
      })
    },
  }
  async function* answer(request: GenerateOptions): AsyncIterable<StreamChunk> {
    requests.push(request)
    const next = answers[requests.length - 1]
    if (next === undefined) throw new Error(`no answer for request ${requests.length}`)
    if ('hang' in next) {
      await new Promise((resolve) => request.signal?.addEventListener('abort', resolve, { once: true }))
      throw new Error('cancelled')
    }
    yield* chunksOf({ usage: { inputTokens: 1, outputTokens: 1 }, ...next }, requests.length)
  }
  const { ctx, stderr } = await bootRows(
    [
      { module: llmRow },
      { module: sessionRow },
      { module: systemPromptRow, config: { persona: 'persona' } },
      { module: agentRow },
      { module: toolsRow },
      { module: loopRow },
      { module: meterRow },
      ...(options.pruner === false ? [] : [{ module: prunerRow }]),
      { module: compactionRow, config: options.config ?? {} },
      { module: model },
    ],
    { home: home.path('home') },
  )
  const agent = await ctx.agents.create({ cwd: home.root, provider: 'p', model: 'm' })
  return {
    ctx,
    agent,
    requests,
    stderr,
    async turn(text) {
      agent.followup(text)
      await agent.whenIdle()
    },
    types: () => agent.session.events.map((event) => event.type),
  }
}

const overflow: Reply = { failure: { code: 'CONTEXT_WINDOW_EXCEEDED', message: 'too long', status: 400 } }
const long = 'word '.repeat(400)
const textOf = (request: GenerateOptions | undefined) => JSON.stringify(request?.messages)
const compactionEvents = ({ agent }: Scene): SessionEvent[] =>
  agent.session.events.filter((event) => event.type.startsWith('compaction/'))
const lastEnd = ({ agent }: Scene) => agent.session.events.findLast((event) => event.type === 'turn/end')?.data

test('a refused request is asked again in the same step, behind a summary of all but the newest answer', async () => {
  const s = await scene([call('big', { size: 5 }), overflow, say('Earlier: it was long.'), say('recovered')])
  await s.turn(long)
  const { events } = s.agent.session
  const from = events.findIndex((event) => event.type === 'compaction/start')
  const prompt = events.find((event) => event.type === 'user/message') as SessionEvent
  const [start, summary, checkpoint, end] = events.slice(from, from + 4) as SessionEvent[]
  const compactionId = (start!.data as { compactionId: string }).compactionId
  expect(start!.data).toEqual({ compactionId, turn: 1 })
  expect(Object.keys(summary!.data)).toEqual([
    'compactionId',
    'summary',
    'rawOutput',
    'llmStreamCall',
    'shadowedRange',
    'shadowedSeqs',
    'shadowedTokenCount',
    'provider',
    'model',
    'maxTokens',
    'usage',
  ])
  expect(summary!.data).toMatchObject({
    summary: [{ type: 'text', text: 'Earlier: it was long.' }],
    shadowedRange: { start: prompt.seq, end: prompt.seq },
    shadowedSeqs: [prompt.seq],
    maxTokens: 8192,
  })
  expect(checkpoint).toMatchObject({
    type: 'user/message',
    sourceEventSeqs: [start!.seq, summary!.seq, prompt.seq],
    surfaceOp: { op: 'replace', start: prompt.seq, end: prompt.seq },
    data: { source: { kind: 'plugin', plugin: 'compact', compactionId } },
  })
  expect(end).toMatchObject({ type: 'compaction/end', data: { compactionId, turn: 1 } })
  expect(lastEnd(s)).toEqual({ turn: 1, reason: { kind: 'completed' } })
  expect(textOf(s.requests[3])).toContain('<compacted-summary>')
  expect(textOf(s.requests[3])).not.toContain('word word')
  expect(textOf(s.requests[3])).toContain('xxxxx')
})

test('the summary request repeats prompt, tools and leading messages of the conversation, and asks last', async () => {
  const s = await scene([call('big', { size: 5 }), overflow, say('S'), say('ok')])
  await s.turn(long)
  const [first, , summary] = s.requests
  expect(summary).toMatchObject({ purpose: 'compaction', system: first!.system, maxTokens: 8192 })
  expect(summary!.tools).toEqual(first!.tools)
  expect(summary!.messages.slice(0, -1)).toEqual(first!.messages)
  expect(textOf(summary)).toContain('## Next steps')
})

test('an overflow that a summary does not cure ends the turn with the provider’s own failure', async () => {
  const s = await scene([call('big', { size: 5 }), overflow, say('S'), overflow])
  await s.turn(long)
  expect(s.requests.length).toBe(4)
  expect(lastEnd(s)).toMatchObject({
    reason: { kind: 'error', error: { code: 'CONTEXT_WINDOW_EXCEEDED', message: 'too long' } },
  })
})

test('when the newest result is what is too long, it is cut rather than the turn lost', async () => {
  const s = await scene([call('big', { size: 20_000 }), overflow, say('S'), overflow, say('fine')])
  await s.turn(long)
  expect(lastEnd(s)).toEqual({ turn: 1, reason: { kind: 'completed' } })
  expect(textOf(s.requests[4])).toContain('tool result middle pruned')
})

test('a failing summary is tried once more, then the log says why and the old failure stands', async () => {
  const bad: Reply = { failure: { code: 'INVALID_REQUEST', message: 'nope' } }
  const s = await scene([call('big', { size: 5 }), overflow, bad, bad], { config: { compactionRetries: 1 } })
  await s.turn(long)
  expect(compactionEvents(s).map((event) => event.type)).toEqual(['compaction/start', 'compaction/end'])
  expect(compactionEvents(s)[1]!.data).toMatchObject({ error: 'the summary failed: nope' })
  expect(lastEnd(s)).toMatchObject({ reason: { kind: 'error', error: { code: 'CONTEXT_WINDOW_EXCEEDED' } } })
})

test('a summary cut at its cap is no summary', async () => {
  const cut: Reply = { text: 'half', finish: 'max-tokens' }
  const s = await scene([call('big', { size: 5 }), overflow, cut, say('whole'), say('ok')])
  await s.turn(long)
  expect(lastEnd(s)).toEqual({ turn: 1, reason: { kind: 'completed' } })
  expect(textOf(s.requests[4])).toContain('whole')
})

test('a summary that is longer than what it replaces changes nothing', async () => {
  const s = await scene([call('big', { size: 5 }), overflow, say('y'.repeat(20_000))])
  await s.turn(long)
  expect(compactionEvents(s).at(-1)!.data).toMatchObject({
    error: 'the summary is not smaller than the history it would replace',
  })
  expect(s.agent.session.surfaceDigest().generation).toBe(0)
})

test('a summary request that is itself too long is asked about half of the history', async () => {
  const s = await scene([say('one'), say('two'), overflow, overflow, say('S'), say('ok')])
  await s.turn(long)
  await s.turn(long)
  await s.turn('go on')
  expect(lastEnd(s)).toMatchObject({ reason: { kind: 'completed' } })
  expect(s.requests[4]!.messages.length).toBeLessThan(s.requests[3]!.messages.length)
})

test('above the threshold, with what is about to enter counted in, history is summarised before the step', async () => {
  const s = await scene([say('one'), say('S'), say('two')], { window: 1300, pruner: false })
  await s.turn(long)
  await s.turn(`${long} and now?`)
  expect(s.requests[1]!.purpose).toBe('compaction')
  expect(textOf(s.requests[2])).toContain('<compacted-summary>')
  expect(textOf(s.requests[2])).toContain('and now?')
  const types = s.types()
  expect(types.lastIndexOf('compaction/end')).toBeLessThan(types.lastIndexOf('step/start'))
})

test('pruning comes first where it is enough, and asks the model nothing', async () => {
  const s = await scene([call('big', { size: 40_000 }), say('one'), say('two'), say('three')], { window: 16_000 })
  await s.turn('read it')
  await s.turn(long.repeat(10))
  await s.turn('next')
  expect(s.requests.every((request) => request.purpose === undefined)).toBe(true)
  expect(s.types()).toContain('compaction/prune')
  expect(textOf(s.requests.at(-1))).toContain('tool result middle pruned')
})

test('a failed summary under pressure does not stop the turn, and is not tried again at once', async () => {
  const bad: Reply = { failure: { code: 'INVALID_REQUEST', message: 'nope' } }
  const s = await scene([say('one'), bad, say('two'), say('three')], {
    window: 1300,
    pruner: false,
    config: { compactionRetries: 0 },
  })
  for (const text of [long, long, 'third']) await s.turn(text)
  expect(lastEnd(s)).toEqual({ turn: 3, reason: { kind: 'completed' } })
  expect(s.requests.filter((request) => request.purpose === 'compaction').length).toBe(1)
})

test('cancelling while the summary is written ends the turn as cancelled, with the history as it was', async () => {
  const s = await scene([call('big', { size: 5 }), overflow, { hang: true }])
  s.agent.followup(long)
  while (s.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  s.agent.cancel({ kind: 'user' })
  await s.agent.whenIdle()
  expect(compactionEvents(s).at(-1)!.data).toMatchObject({ error: 'cancelled' })
  expect(lastEnd(s)).toEqual({ turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } })
  expect(s.agent.session.surfaceDigest().generation).toBe(0)
})

test('an idle agent is compacted on demand, with no turn in the log', async () => {
  const s = await scene([say('one'), say('S'), say('two')])
  expect(await s.ctx.compaction.compact(s.agent)).toBeUndefined()
  await s.turn(long)
  const done = await s.ctx.compaction.compact(s.agent, { sourceCommandId: 'cmd' })
  expect(done).toMatchObject({ items: 1 })
  expect(compactionEvents(s)[0]!.data).toMatchObject({ sourceCommandId: 'cmd', turn: null })
  expect(await s.ctx.compaction.compact(s.agent)).toBeUndefined()
  await s.turn('more')
  expect(textOf(s.requests[2])).toContain('<compacted-summary>')
})

test('an agent at work is not compacted on demand', async () => {
  const s = await scene([{ hang: true }])
  s.agent.followup('go')
  await expect(s.ctx.compaction.compact(s.agent)).rejects.toMatchObject({ code: 'COMPACTION_BUSY' })
  s.agent.cancel({ kind: 'user' })
  await s.agent.whenIdle()
})

test('with auto off an overflow is the turn’s failure', async () => {
  const s = await scene([call('big', { size: 5 }), overflow], { config: { auto: false } })
  await s.turn(long)
  expect(lastEnd(s)).toMatchObject({ reason: { kind: 'error' } })
  expect(compactionEvents(s)).toEqual([])
})
