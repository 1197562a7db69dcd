import { Context } from '@dsh/cordis'
import { describe, expect, it } from 'vitest'
import * as row from '../src/index.ts'
import type { Session, SessionEventMap, SessionEventType } from '../src/types.ts'

async function host() {
  const ctx = new Context()
  await ctx.plugin(row)
  return ctx
}
const append = { surfaceOp: 'append' } as const
const prompt = (text: string, id = text) => ({
  content: [{ type: 'text' as const, text }],
  source: { kind: 'user' },
  role: 'user' as const,
  id,
})
const result = (callId: string, text: string, isError = false) => ({
  turn: 1,
  step: 1,
  message: {
    source: { kind: 'tool' as const, callId },
    content: [
      { type: 'tool-result' as const, toolCallId: callId, content: [{ type: 'text' as const, text }], isError },
    ],
    role: 'user' as const,
    id: `r-${callId}`,
  },
})
const anyAppend = (session: Session, type: string, data: unknown, marker?: unknown) =>
  session.append(type as SessionEventType, data as SessionEventMap[SessionEventType], marker as never)

describe('append', () => {
  it('writes envelopes in the key order of the log', async () => {
    const session = (await host()).sessions.create({ cwd: '/w' })
    session.append('turn/start', { turn: 1 })
    const event = session.append('user/message', prompt('hi'), append)
    expect(Object.keys(event)).toEqual(['type', 'seq', 'time', 'data', 'surfaceOp'])
    const answer = session.append(
      'assistant/message',
      {
        turn: 1,
        step: 1,
        message: { role: 'assistant', content: [], source: { kind: 'model', provider: 'p', model: 'm' }, id: 'a' },
      },
      { surfaceOp: 'append', sourceEventSeqs: [] },
    )
    expect(Object.keys(answer)).toEqual(['type', 'seq', 'time', 'data', 'sourceEventSeqs', 'surfaceOp'])
  })

  it.each<[string, unknown]>([
    ['undefined', { turn: undefined }],
    ['NaN', { turn: Number.NaN }],
    ['negative zero', { turn: -0 }],
    ['a Date', { turn: new Date() }],
    ['a function', { turn: () => 1 }],
    ['a hole', { turn: new Array(2) }],
  ])('refuses data with %s and commits nothing', async (_what, data) => {
    const session = (await host()).sessions.create()
    expect(() => anyAppend(session, 'turn/start', data)).toThrow(
      'session event "turn/start" carries non-JSON-serializable data',
    )
    expect(session.events.length).toBe(0)
  })

  it('refuses a cycle', async () => {
    const session = (await host()).sessions.create()
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    expect(() => anyAppend(session, 'turn/start', loop)).toThrow('carries non-JSON-serializable data')
  })

  it.each<[string, string, unknown, unknown, string]>([
    [
      'surface without op',
      'user/message',
      prompt('x'),
      undefined,
      'session event "user/message" is surface-eligible and requires a surfaceOp marker',
    ],
    [
      'op on another type',
      'turn/start',
      { turn: 1 },
      append,
      'session event "turn/start" is not surface-eligible and cannot carry surfaceOp',
    ],
    [
      'sources on another type',
      'turn/start',
      { turn: 1 },
      { sourceEventSeqs: [0] },
      'session event "turn/start" is not surface-eligible and cannot carry sourceEventSeqs',
    ],
    [
      'odd op',
      'user/message',
      prompt('x'),
      { surfaceOp: 'prepend' },
      'session event "user/message" carries an invalid surfaceOp',
    ],
    [
      'odd replace',
      'user/message',
      prompt('x'),
      { surfaceOp: { op: 'replace', start: 0 } },
      'session event "user/message" carries an invalid replace surfaceOp',
    ],
    [
      'empty sources',
      'user/message',
      prompt('x'),
      { ...append, sourceEventSeqs: [] },
      'sourceEventSeqs must not be empty except on assistant/message',
    ],
    [
      'no array',
      'user/message',
      prompt('x'),
      { ...append, sourceEventSeqs: 3 },
      'sourceEventSeqs on event at seq 1 must be an array when present',
    ],
    [
      'odd source',
      'user/message',
      prompt('x'),
      { ...append, sourceEventSeqs: [-1] },
      'session event "user/message" sourceEventSeqs must densely contain non-negative safe integers',
    ],
    [
      'twice',
      'user/message',
      prompt('x'),
      { ...append, sourceEventSeqs: [0, 0] },
      'sourceEventSeqs must not contain duplicates',
    ],
    [
      'forward',
      'user/message',
      prompt('x'),
      { ...append, sourceEventSeqs: [1] },
      'sourceEventSeqs must reference earlier events: 1 >= current seq 1',
    ],
    [
      'unknown start',
      'user/message',
      prompt('x'),
      { surfaceOp: { op: 'replace', start: 9, end: 9 }, sourceEventSeqs: [0] },
      'surface replace: start seq 9 not found in surface',
    ],
    [
      'unknown end',
      'user/message',
      prompt('x'),
      { surfaceOp: { op: 'replace', start: 0, end: 9 }, sourceEventSeqs: [0] },
      'surface replace: end seq 9 not found in surface',
    ],
    [
      'undefined in the marker',
      'user/message',
      prompt('x'),
      { surfaceOp: { op: 'replace', start: undefined, end: 1 } },
      'session event "user/message" carries non-JSON-serializable surface metadata',
    ],
    [
      'legacy delta',
      'request/header-delta',
      {},
      undefined,
      'session event "request/header-delta" uses unsupported legacy request/header-delta format',
    ],
    [
      'legacy reason',
      'request/header',
      { reason: 'fallback' },
      undefined,
      'session event "request/header" uses unsupported legacy request/header reason "fallback"',
    ],
  ])('refuses %s with its exact text', async (_what, type, data, marker, text) => {
    const session = (await host()).sessions.create()
    session.append('user/message', prompt('first'), append)
    expect(() => anyAppend(session, type, data, marker)).toThrow(text)
    expect(session.events.length).toBe(1)
    expect(session.deriveMessages().length).toBe(1)
  })

  it('holds the rules of a replacement', async () => {
    const session = (await host()).sessions.create()
    session.append('user/message', prompt('a'), append)
    session.append('user/message', prompt('b'), append)
    session.append('tool/result', result('c1', 'out'), append)
    const replace = (start: number, end: number, sourceEventSeqs: number[]) => ({
      surfaceOp: { op: 'replace' as const, start, end },
      sourceEventSeqs,
    })
    expect(() => session.append('user/message', prompt('s'), replace(1, 0, [0, 1]))).toThrow(
      'surface replace: start seq 1 (index 1) is after end seq 0 (index 0)',
    )
    expect(() => session.append('user/message', prompt('s'), replace(0, 2, [1]))).toThrow(
      'surface replace: sourceEventSeqs must include every shadowed surface node; missing 0, 2',
    )
    expect(() => session.append('tool/result', result('c1', 'x'), replace(1, 2, [1, 2]))).toThrow(
      'tool/result surface replacement must rewrite exactly one current node',
    )
    expect(() => session.append('tool/result', result('c1', 'x'), replace(0, 0, [0]))).toThrow(
      'tool/result surface replacement must target a current tool/result',
    )
    expect(() => session.append('tool/result', result('c1', 'x', true), replace(2, 2, [2]))).toThrow(
      'tool/result surface replacement may change only content',
    )
    session.append('tool/result', result('c1', 'short'), replace(2, 2, [2]))
    expect(session.surface).toEqual([0, 1, 3])
    session.append('user/message', prompt('summary'), replace(0, 1, [0, 1]))
    expect(session.surface).toEqual([4, 3])
    expect(session.surfaceDigest()).toMatchObject({ generation: 2, count: 2 })
  })

  it('keeps what was appended from later changes of the caller', async () => {
    const session = (await host()).sessions.create()
    const message = prompt('before')
    session.append('user/message', message, append)
    message.content[0]!.text = 'after'
    expect(session.deriveMessages()[0]?.content).toEqual([{ type: 'text', text: 'before' }])
    expect(Object.isFrozen(session.deriveMessages()[0]?.content[0])).toBe(true)
    expect(session.deriveMessages()[0]).toBe(session.events[0]?.data)
  })

  it('shows an empty answer to nobody', async () => {
    const session = (await host()).sessions.create()
    session.append('user/message', prompt('a'), append)
    session.append(
      'assistant/message',
      {
        turn: 1,
        step: 1,
        message: { role: 'assistant', content: [], source: { kind: 'model', provider: 'p', model: 'm' }, id: 'x' },
      },
      append,
    )
    session.append('user/message', prompt('b'), append)
    expect(session.deriveMessages().map((message) => message.id)).toEqual(['a', 'b'])
    expect(session.surface).toEqual([0, 1, 2])
  })

  it('refuses an append from a listener of the same session, and survives one that throws', async () => {
    const ctx = await host()
    const session = ctx.sessions.create()
    let inner: unknown
    const heard: number[] = []
    ctx.on('session/event', (which) => {
      try {
        which.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
      } catch (error) {
        inner = error
      }
      throw new Error('a broken listener')
    })
    ctx.on('session/event', (_session, event) => void heard.push(event.seq))
    session.append('turn/start', { turn: 1 })
    expect(String(inner)).toContain('session append cannot reenter while another append is being published')
    expect(heard).toEqual([0])
    session.append('step/start', { turn: 1, step: 1 })
    expect(session.events.length).toBe(2)
  })

  it('marks types that the format does not know as ignorable', async () => {
    const session = (await host()).sessions.create({ cwd: '/a' })
    expect(session.append('session/cwd', { cwd: '/b' }).ignorable).toBe(true)
    expect(session.cwd).toBe('/b')
    expect(session.header.cwd).toBe('/a')
  })

  it('offers the events as a live view that cannot be written', async () => {
    const session = (await host()).sessions.create()
    const { events } = session
    session.append('turn/start', { turn: 1 })
    expect(events.length).toBe(1)
    expect(events.at(-1)?.type).toBe('turn/start')
    expect([...events].length).toBe(1)
    expect(() => (events as unknown as unknown[]).push(1)).toThrow('append-only')
    expect(() => ((events as unknown as unknown[])[0] = 1)).toThrow('append-only')
    expect(() => ((events as unknown as unknown[]).length = 0)).toThrow('append-only')
  })

  it('runs a fold once per event, over the seed and then live', async () => {
    const ctx = await host()
    const seed = ctx.sessions.create({ id: 'a' })
    seed.append('turn/start', { turn: 1 })
    seed.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    const session = ctx.sessions.create({ id: 'b', seed: [...seed.events] })
    let calls = 0
    const fold = {
      initial: () => 0,
      apply: (n: number) => {
        calls++
        return n + 1
      },
    }
    expect(session.fold(fold)).toBe(3)
    session.append('turn/start', { turn: 2 })
    expect(session.fold(fold)).toBe(4)
    expect(calls).toBe(4)
  })
})

describe('seeds', () => {
  it('end with exactly one session/end-seed', async () => {
    const ctx = await host()
    const first = ctx.sessions.create({ id: 'a' })
    first.append('user/message', prompt('hi'), append)
    const second = ctx.sessions.create({ id: 'b', seed: [...first.events] })
    expect(second.events.map((event) => event.type)).toEqual(['user/message', 'session/end-seed'])
    expect(second.firstLiveSeq).toBe(1)
    const third = ctx.sessions.create({ id: 'c', seed: [...second.events] })
    expect(third.events.length).toBe(2)
    expect(third.surfaceDigest().digest).toBe(first.surfaceDigest().digest)
  })

  it.each<[string, unknown, string]>([
    [
      'a gap',
      [{ type: 'turn/start', seq: 1, time: 0, data: { turn: 1 } }],
      'seed event at index 0 has seq 1 (expected 0); seed must be contiguous from 0',
    ],
    [
      'an extra key',
      [{ type: 'turn/start', seq: 0, time: 0, data: {}, extra: 1 }],
      'seed event at index 0 has an invalid event envelope',
    ],
    [
      'no marker',
      [{ type: 'user/message', seq: 0, time: 0, data: prompt('x') }],
      'invalid seed event at index 0: session event "user/message" is surface-eligible and requires a surfaceOp marker',
    ],
    [
      'no id',
      [
        {
          type: 'user/message',
          seq: 0,
          time: 0,
          data: { role: 'user', content: [], source: { kind: 'user' } },
          surfaceOp: 'append',
        },
      ],
      'seed user/message at index 0 lacks an identified message',
    ],
    [
      'no provider',
      [{ type: 'request/header', seq: 0, time: 0, data: { header: { config: { model: 'm' } }, reason: 'initial' } }],
      'seed request/header at index 0 lacks provider/model',
    ],
  ])('with %s are refused', async (_what, seed, text) => {
    const ctx = await host()
    expect(() => ctx.sessions.create({ seed: seed as never })).toThrow(text)
    expect(ctx.sessions.list()).toEqual([])
  })

  it('a live id cannot be taken twice', async () => {
    const ctx = await host()
    ctx.sessions.create({ id: 'a' })
    expect(() => ctx.sessions.create({ id: 'a' })).toThrow('session "a" already exists')
  })

  it('a disposed session refuses appends and its id is free again', async () => {
    const ctx = await host()
    const session = ctx.sessions.create({ id: 'a' })
    let released = false
    ctx.on('session/disposed', async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      released = true
    })
    await ctx.sessions.dispose('a')
    expect(released).toBe(true)
    expect(() => session.append('turn/start', { turn: 1 })).toThrow('session "a" is disposed')
    ctx.sessions.create({ id: 'a' })
  })
})
