import { userMessage } from '@dsh/agent'
import { call, say } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { harness, resultTexts, textTool } from './harness.ts'

const echo = textTool('echo', async (args) => `echo ${(args as { word?: string }).word ?? ''}`)

test('a first turn writes its events in the order of the reference', async () => {
  const run = await harness({ replies: [call('echo', { word: 'hi' }), say('done')], tools: [echo] })
  await run.turn('go')
  const types = run.types().filter((type) => type !== 'assistant/chunk')
  expect(types).toEqual([
    'agent/inbox/spliced',
    'turn/start',
    'agent/inbox/spliced',
    'step/start',
    'user/message',
    'request/header',
    'request/context',
    'request/digest',
    'assistant/message',
    'tool/call',
    'tool/result',
    'step/end',
    'step/start',
    'request/digest',
    'assistant/message',
    'step/end',
    'turn/end',
  ])
  expect(run.last('turn/end')?.data).toEqual({ turn: 1, reason: { kind: 'completed' } })
  expect(resultTexts(run)).toEqual(['echo hi'])
})

test('each answer cites exactly the chunks of its own attempt', async () => {
  const run = await harness({ replies: [call('echo', {}), say('done')], tools: [echo] })
  await run.turn('go')
  const chunks = run.all('assistant/chunk')
  for (const message of run.all('assistant/message')) {
    const own = chunks.filter(({ data }) => data.step === message.data.step).map(({ seq }) => seq)
    expect(message.sourceEventSeqs).toEqual(own)
  }
})

test('the header is logged once, and again only when what a request says changes', async () => {
  const run = await harness({ replies: [say('a'), say('b'), say('c')] })
  await run.turn('one')
  await run.turn('two')
  expect(run.all('request/header').map(({ data }) => data.reason)).toEqual(['initial'])
  run.agent.configure({ model: 'm2' })
  await run.turn('three')
  expect(run.all('request/header').map(({ data }) => data.reason)).toEqual(['initial', 'change'])
  expect(run.requests.at(-1)?.model).toBe('m2')
  expect(run.requests.at(-1)?.system).toContain('Model m2')
})

test('request N+1 starts with the very messages of request N, and its system prompt and tools stay the same', async () => {
  const run = await harness({
    replies: [call('echo', { word: 'a' }), call('echo', { word: 'b' }), say('c'), say('d')],
    tools: [echo],
  })
  await run.turn('one')
  await run.turn('two')
  expect(run.requests).toHaveLength(4)
  for (let i = 1; i < run.requests.length; i++) {
    const before = run.requests[i - 1]!
    const now = run.requests[i]!
    expect(now.messages.slice(0, before.messages.length).map((m) => JSON.stringify(m))).toEqual(
      before.messages.map((m) => JSON.stringify(m)),
    )
    expect(now.system).toBe(before.system)
    expect(JSON.stringify(now.tools)).toBe(JSON.stringify(before.tools))
  }
})

test('a follow-up during a turn starts the next turn, a steer joins the next step of this one', async () => {
  const run = await harness({
    replies: [call('act', {}), say('first'), say('second')],
    tools: [
      textTool('act', async (_args, { agent }) => {
        agent!.followup('later')
        agent!.steer('now')
        return 'acted'
      }),
    ],
  })
  await run.turn('go')
  expect(run.all('turn/end')).toHaveLength(2)
  const users = run.all('user/message').map(({ data }) => (data.content[0] as { text: string }).text)
  expect(users).toEqual(['go', 'now', 'later'])
  const [second] = run.all('user/message').slice(1)
  expect(run.session.events.slice(0, second!.seq).filter(({ type }) => type === 'step/start')).toHaveLength(2)
})

test('an injected message wakes nobody and enters with the next prompt, before it', async () => {
  const run = await harness({ replies: [say('ok')] })
  run.agent.inject(userMessage('fact', { kind: 'plugin', plugin: 'test' }))
  await run.agent.whenIdle()
  expect(run.types()).not.toContain('turn/start')
  await run.turn('go')
  expect(run.requests[0]?.messages.map((m) => (m.content[0] as { text: string }).text)).toEqual(['fact', 'go'])
})

test('a prompt that a row refuses is back in its queue, with the reason in the log, and later prompts run', async () => {
  const gate = {
    name: 'gate',
    apply: async (ctx: import('@dsh/cordis').Context) => {
      ctx.on('agent/pre-step', async ({ claimed }, next) =>
        claimed.some((m) => JSON.stringify(m).includes('secret')) ? { kind: 'reject', reason: 'no secrets' } : next(),
      )
    },
  }
  const run = await harness({ replies: [say('fine')], rows: [{ module: gate }] })
  await run.turn('a secret')
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'blocked' })
  expect(run.last('turn/blocked' as never)).toMatchObject({ ignorable: true, data: { turn: 1, reason: 'no secrets' } })
  expect(run.agent.pending('next-turn')).toHaveLength(1)
  await run.turn('plain')
  expect(run.last('turn/end')?.data).toEqual({ turn: 2, reason: { kind: 'completed' } })
  expect(run.requests).toHaveLength(1)
  expect(run.agent.pending('next-turn')).toHaveLength(1)
})

test('an answer cut at the output cap loses its tool calls and ends the turn as max-tokens', async () => {
  const run = await harness({
    replies: [{ text: 'half', calls: [{ name: 'echo', args: {} }], finish: 'max-tokens' }],
    tools: [echo],
  })
  await run.turn('go')
  expect(run.types()).not.toContain('tool/call')
  expect(run.last('assistant/message')?.data.message.content).toEqual([{ type: 'text', text: 'half' }])
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'max-tokens' })
})

test('a failed request ends the turn with its code, unless a row asks again within the same step', async () => {
  const failure = { message: 'busy', code: 'SERVER', status: 503 }
  const run = await harness({ replies: [{ failure }] })
  await run.turn('go')
  expect(run.last('turn/end')?.data.reason).toEqual({ kind: 'error', error: failure })

  const retry = {
    name: 'retry',
    apply: async (ctx: import('@dsh/cordis').Context) => {
      ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    },
  }
  const again = await harness({ replies: [{ failure }, say('here')], rows: [{ module: retry }] })
  await again.turn('go')
  expect(again.all('step/start')).toHaveLength(1)
  expect(again.last('turn/end')?.data.reason).toEqual({ kind: 'completed' })
})

test('a listener that steers at the end of a turn gets another step', async () => {
  let asked = 0
  const stopper = {
    name: 'stopper',
    apply: async (ctx: import('@dsh/cordis').Context) => {
      ctx.on('agent/turn-stopping', (agent) => {
        if (asked++ === 0) agent.steer(userMessage('not yet', { kind: 'plugin', plugin: 'stopper' }))
      })
    },
  }
  const run = await harness({ replies: [say('a'), say('b')], rows: [{ module: stopper }] })
  await run.turn('go')
  expect(run.all('step/start')).toHaveLength(2)
  expect(run.all('turn/end')).toHaveLength(1)
  expect(asked).toBe(2)
})

test('the runtime context follows the prompt once, and again only when it changes', async () => {
  let text = 'mode A'
  const facts = {
    name: 'facts',
    inject: ['systemPrompt'],
    apply: async (ctx: import('@dsh/cordis').Context) => {
      ctx.systemPrompt.context({ name: 'facts', order: 1, text: () => text })
    },
  }
  const run = await harness({ replies: [say('a'), say('b'), say('c')], rows: [{ module: facts }] })
  const snapshots = () => run.all('user/message').filter(({ data }) => data.source.kind === 'plugin')
  await run.turn('one')
  await run.turn('two')
  expect(snapshots()).toHaveLength(1)
  text = ''
  await run.turn('three')
  expect(snapshots().map(({ data }) => (data.content[0] as { text: string }).text)).toEqual([
    'Current runtime context. This snapshot supersedes earlier runtime-context snapshots.\n\nmode A',
    'Current runtime context: none. Earlier runtime-context snapshots no longer apply.',
  ])
})

test("what is registered through agent.ctx is that agent's alone, also its listeners, and ends with it", async () => {
  const run = await harness({ replies: [call('mine', {}), say('a'), call('mine', {}), say('b')] })
  const heard: string[] = []
  run.agent.ctx.tools.register(textTool('mine', async () => 'only here'))
  run.agent.ctx.on('tools/pre-execute', (exec, next) => {
    heard.push(exec.agent!.id)
    return next()
  })
  await run.turn('go')
  const other = await run.ctx.agents.create({ cwd: '/', provider: 'scripted', model: 'm1' })
  other.followup('go')
  await other.whenIdle()
  expect(resultTexts(run)).toEqual(['only here'])
  expect(JSON.stringify(other.session.events)).toContain('unknown tool \\"mine\\"')
  expect(heard).toEqual([run.agent.id])
  await run.agent.dispose()
  expect(run.ctx.tools.schemas(run.agent)).toEqual([])
})

test('a resumed session keeps its explicit effort for the same model, and re-resolves what the adapter had filled in', async () => {
  const { withResumedChoice } = await import('../src/open-session.ts')
  const session = (config: object, adapterDefaults?: object) =>
    ({
      requestHeader: { config: { provider: 'p', model: 'm', ...config }, ...(adapterDefaults && { adapterDefaults }) },
    }) as never
  expect(withResumedChoice({}, session({ reasoningEffort: 'high' }))).toMatchObject({
    provider: 'p',
    model: 'm',
    reasoningEffort: 'high',
  })
  expect(withResumedChoice({}, session({ reasoningEffort: 'high' }, { reasoningEffort: true }))).toEqual({
    provider: 'p',
    model: 'm',
  })
  expect(withResumedChoice({ model: 'other' }, session({ reasoningEffort: 'high' }))).toEqual({
    provider: 'p',
    model: 'other',
  })
})

test('a prompt queued behind a failed turn waits for the next wake, also across a resume', async () => {
  const failure = { message: 'down', code: 'SERVER' }
  const run = await harness({
    replies: [
      () => {
        run.agent.followup('second')
        return { failure }
      },
      say('answered'),
      say('again'),
    ],
  })
  await run.turn('first')
  expect(run.all('turn/end').map(({ data }) => data.reason.kind)).toEqual(['error'])
  expect(run.agent.pending('next-turn')).toHaveLength(1)

  const seed = [...run.session.events]
  await run.agent.dispose()
  const session = run.ctx.sessions.create({ id: 'resumed', cwd: '/', seed })
  const agent = await run.ctx.agents.create({ session })
  await agent.whenIdle()
  expect(agent.pending('next-turn')).toHaveLength(1)
  agent.followup('third')
  await agent.whenIdle()
  const ends = session.events.filter(({ type }) => type === 'turn/end').map(({ data }) => data)
  expect(ends).toMatchObject([{ turn: 1 }, { turn: 2, reason: { kind: 'completed' } }, { turn: 3 }])
  expect(session.events.findLast(({ type }) => type === 'request/header')?.data).toMatchObject({ reason: 'resume' })
})
