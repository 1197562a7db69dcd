import { Context } from '@dsh/cordis'
import type { GenerateOptions, Message } from '@dsh/llm'
import { describe, expect, it } from 'vitest'
import * as row from '../src/index.ts'

const { requestDigest, verifyDispatch, verifyDispatchFully } = row
const tools = [{ name: 'bash', description: 'd', parameters: { type: 'object' } }]

async function scene() {
  const ctx = new Context()
  await ctx.plugin(row)
  const session = ctx.sessions.create({ id: 's' })
  for (const text of ['a', 'b', 'c'])
    session.append(
      'user/message',
      { content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: text },
      { surfaceOp: 'append' },
    )
  session.append('request/header', {
    header: { config: { provider: 'p', model: 'm', reasoningEffort: 'high' }, system: 'be good', tools },
    reason: 'initial',
  })
  const options = (): { -readonly [K in keyof GenerateOptions]: GenerateOptions[K] } => ({
    provider: 'p',
    model: 'm',
    reasoningEffort: 'high',
    system: 'be good',
    tools,
    messages: session.deriveMessages(),
    sessionId: 's',
  })
  return { session, options }
}
const other: Message = { content: [{ type: 'text', text: 'z' }], source: { kind: 'user' }, role: 'user', id: 'z' }

describe.each([
  ['chained', verifyDispatch],
  ['full', verifyDispatchFully],
] as const)('the %s dispatch guard', (_name, verify) => {
  it('passes what the log says and gives the digests to log', async () => {
    const { session, options } = await scene()
    const digest = verify(session, options())
    expect(digest).toEqual({
      generation: 0,
      ...requestDigest(session.deriveMessages(), session.requestHeader!),
    })
    expect(verify(session, { ...options(), messages: structuredClone(session.deriveMessages()) })).toEqual(digest)
  })

  it.each<[string, (messages: readonly Message[]) => Message[]]>([
    ['one more', (messages) => [...messages, other]],
    ['one fewer', (messages) => messages.slice(1)],
    ['another order', (messages) => [messages[1]!, messages[0]!, messages[2]!]],
    ['a changed text', (messages) => [other, ...messages.slice(1)]],
  ])('stops a request with %s of its messages', async (_what, change) => {
    const { session, options } = await scene()
    expect(() => verify(session, { ...options(), messages: change(session.deriveMessages()) })).toThrow(
      expect.objectContaining({
        code: 'INVARIANT',
        message:
          'invariant violated by "@dsh/session": llm request for session "s" diverges from the dispatch-time durable derivation (log-reconstruction desync)',
      }),
    )
  })

  it.each<[string, Partial<GenerateOptions>]>([
    ['provider', { provider: 'q' }],
    ['model', { model: 'n' }],
    ['effort', { reasoningEffort: 'low' }],
    ['system prompt', { system: 'be bad' }],
    ['output cap', { maxTokens: 5 }],
    ['temperature', { temperature: 1 }],
    ['stop words', { stop: ['x'] }],
    ['tool', { tools: [{ ...tools[0]!, description: 'e' }] }],
  ])('stops a request with another %s than its header', async (_what, change) => {
    const { session, options } = await scene()
    expect(() => verify(session, { ...options(), ...change })).toThrow(
      'invariant violated by "@dsh/session": llm request for session "s" diverges from the folded request header',
    )
  })

  it('seals the request against a later change', async () => {
    const { session, options } = await scene()
    const request = { ...options(), messages: [...session.deriveMessages()] }
    verify(session, request)
    expect(() => request.messages.push(other)).toThrow(TypeError)
    expect(() => {
      request.model = 'n'
    }).toThrow(TypeError)
  })
})

it('a replacement changes digest and generation, and equal logs have equal digests', async () => {
  const { session } = await scene()
  const before = session.surfaceDigest()
  session.append('user/message', other as never, {
    surfaceOp: { op: 'replace', start: 1, end: 2 },
    sourceEventSeqs: [1, 2],
  })
  const after = session.surfaceDigest()
  expect(after).toMatchObject({ generation: 1, count: 2 })
  expect(after.digest).not.toBe(before.digest)
  expect(after.digest).toBe(requestDigest(session.deriveMessages(), session.requestHeader!).digest)
})

it('costs under a millisecond at ten megabytes of history', async () => {
  const { session, options } = await scene()
  for (let i = 0; i < 1000; i++)
    session.append(
      'user/message',
      { content: [{ type: 'text', text: 'x'.repeat(10_000) }], source: { kind: 'user' }, role: 'user', id: `m${i}` },
      { surfaceOp: 'append' },
    )
  verifyDispatch(session, options())
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    session.append('user/message', { ...other, id: `n${i}` } as never, { surfaceOp: 'append' })
    const request = options()
    const start = performance.now()
    verifyDispatch(session, request)
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  expect(times[10]).toBeLessThan(1)
})
