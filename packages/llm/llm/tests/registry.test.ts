import { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as llm from '../src/index.ts'
import { type GenerateOptions, type LlmAdapter, llmError, type StreamChunk } from '../src/index.ts'

let ctx: Context
beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(llm)
})
afterEach(() => ctx.fiber.dispose())

const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }

function adapter(route: string, parts: Partial<LlmAdapter> = {}): LlmAdapter {
  return {
    route,
    providerInfo: () => ({ id: route, name: route.toUpperCase() }),
    resolveModel: (id, provider) => ({
      provider,
      id,
      name: id,
      context: { contextWindow: 1000 },
      defaultMaxTokens: 64,
      reasoning: {
        efforts: [
          { id: 'off', name: 'Off' },
          { id: 'high', name: 'High' },
        ],
        defaultEffort: 'high',
      },
    }),
    async *stream() {
      yield stop
    },
    ...parts,
  }
}

const options = (over: Partial<GenerateOptions> = {}): GenerateOptions => ({
  provider: 'p',
  model: 'm',
  messages: [],
  ...over,
})

async function collect(stream: AsyncIterable<StreamChunk>): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

test('a prepared call carries the defaults that the adapter filled in, in the key order of the log, and marks them', async () => {
  ctx.get('llm')?.register(adapter('p'))
  const prepared = await ctx.get('llm')!.prepareCall({ model: 'm', provider: 'p', temperature: 1 })
  expect(JSON.stringify(prepared.config)).toBe(
    '{"provider":"p","model":"m","maxTokens":64,"reasoningEffort":"high","temperature":1}',
  )
  expect(prepared.adapterDefaults).toEqual({ reasoningEffort: true, maxTokens: true })
})

test('a chosen value is not marked as a default', async () => {
  ctx.get('llm')?.register(adapter('p'))
  const prepared = await ctx
    .get('llm')!
    .prepareCall({ model: 'm', provider: 'p', maxTokens: 5, reasoningEffort: 'off' })
  expect(prepared.config).toEqual({ provider: 'p', model: 'm', maxTokens: 5, reasoningEffort: 'off' })
  expect(prepared.adapterDefaults).toBeUndefined()
})

test('an effort that the model does not offer is refused by name', async () => {
  ctx.get('llm')?.register(adapter('p'))
  await expect(
    ctx.get('llm')!.prepareCall({ model: 'm', provider: 'p', reasoningEffort: 'huge' }),
  ).rejects.toMatchObject({
    code: 'UNSUPPORTED_REASONING_EFFORT',
    message: 'provider "p" model "m" does not support reasoning effort "huge"',
  })
})

test('a route without an adapter is named', async () => {
  await expect(ctx.get('llm')!.prepareCall({ model: 'm', provider: 'p' })).rejects.toMatchObject({
    code: 'NO_ADAPTER',
    message: 'no adapter registered for provider "p"',
  })
})

test('a second adapter for one route is refused, and the route is free again when its row is gone', async () => {
  const row = { inject: ['llm'], apply: async (inner: Context) => void inner.llm.register(adapter('p')) }
  const fiber = await ctx.plugin(row)
  expect(() => ctx.get('llm')!.register(adapter('p'))).toThrow('already registered')
  await fiber.dispose()
  expect(ctx.get('llm')!.providers()).toEqual([])
  ctx.get('llm')!.register(adapter('p'))
})

test('whatever an adapter throws becomes one terminal chunk, after the chunks it gave', async () => {
  ctx.get('llm')?.register(
    adapter('p', {
      async *stream() {
        yield { type: 'text-delta', index: 0, text: 'par' }
        throw llmError('RATE_LIMIT', 'busy', { status: 429, providerRetryAfterMs: 5, requestId: 'r1' })
      },
    }),
  )
  expect(await collect(ctx.get('llm')!.stream(options()))).toEqual([
    { type: 'text-delta', index: 0, text: 'par' },
    {
      type: 'finish',
      reason: {
        kind: 'error',
        failure: { message: 'busy', code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 5, requestId: 'r1' },
      },
    },
  ])
})

test('a throw under an aborted signal is an abort, and an untyped throw is UNKNOWN', async () => {
  ctx.get('llm')?.register(
    adapter('p', {
      // biome-ignore lint/correctness/useYield: an adapter that fails at once
      async *stream() {
        throw new Error('boom')
      },
    }),
  )
  const failure = { message: 'boom', code: 'UNKNOWN' }
  expect(await collect(ctx.get('llm')!.stream(options()))).toEqual([
    { type: 'finish', reason: { kind: 'error', failure } },
  ])
  expect(await collect(ctx.get('llm')!.stream(options({ signal: AbortSignal.abort() })))).toEqual([
    { type: 'finish', reason: { kind: 'aborted', failure } },
  ])
})

test('nothing follows a finish', async () => {
  ctx.get('llm')?.register(
    adapter('p', {
      async *stream() {
        yield stop
        yield { type: 'text-delta', index: 0, text: 'late' }
      },
    }),
  )
  expect(await collect(ctx.get('llm')!.stream(options()))).toEqual([stop])
})

test('a throw of an adapter that asks for raw errors reaches the caller', async () => {
  ctx.get('llm')?.register(
    adapter('*', {
      rawErrors: true,
      // biome-ignore lint/correctness/useYield: an adapter that fails at once
      async *stream() {
        throw llmError('AUTH', 'no')
      },
    }),
  )
  await expect(collect(ctx.get('llm')!.stream(options()))).rejects.toMatchObject({ code: 'AUTH' })
})

test('an adapter for every route takes the calls of all, while facts still come from the owner of the route', async () => {
  const asked: string[] = []
  ctx.get('llm')?.register(
    adapter('p', {
      // biome-ignore lint/correctness/useYield: must not be asked
      async *stream() {
        throw new Error('the real adapter was asked')
      },
    }),
  )
  ctx.get('llm')?.register(
    adapter('*', {
      resolveModel: (id, provider) => ({ provider, id, name: id }),
      async *stream(call) {
        asked.push(call.provider)
        yield stop
      },
    }),
  )
  const prepared = await ctx.get('llm')!.prepareCall({ provider: 'p', model: 'm' })
  expect(prepared.config.maxTokens).toBe(64)
  expect(await collect(prepared.stream({ ...options(), ...prepared.config }))).toEqual([stop])
  const unknown = await ctx.get('llm')!.prepareCall({ provider: 'q', model: 'm' })
  expect(unknown.config).toEqual({ provider: 'q', model: 'm' })
  await expect(
    ctx.get('llm')!.prepareCall({ provider: 'q', model: 'm', reasoningEffort: 'max' }),
  ).resolves.toBeDefined()
  await collect(unknown.stream(options({ provider: 'q' })))
  expect(asked).toEqual(['p', 'q'])
})

test('a prepared call whose adapter is gone ends with REGISTRATION_DISPOSED', async () => {
  const fiber = await ctx.plugin({
    inject: ['llm'],
    apply: async (inner: Context) => void inner.llm.register(adapter('p')),
  })
  const prepared = await ctx.get('llm')!.prepareCall({ provider: 'p', model: 'm' })
  await fiber.dispose()
  await expect(collect(prepared.stream(options()))).rejects.toMatchObject({ code: 'REGISTRATION_DISPOSED' })
})

test('a listener may serve a route that no adapter knows', async () => {
  ctx.on('llm/stream', (_options, _next) =>
    (async function* () {
      yield stop
    })(),
  )
  expect(await collect(ctx.get('llm')!.stream(options()))).toEqual([stop])
})

test('a throwing listener is not turned into a chunk', async () => {
  ctx.get('llm')?.register(adapter('p'))
  ctx.on('llm/stream', () => {
    throw new DshError('VETO', 'not now')
  })
  await expect(collect(ctx.get('llm')!.stream(options()))).rejects.toMatchObject({ code: 'VETO' })
})

test('guards stand behind every listener: they see what a listener changed, and their throw stops the request', async () => {
  let calls = 0
  ctx.get('llm')?.register(
    adapter('p', {
      async *stream() {
        calls++
        yield stop
      },
    }),
  )
  const seen: string[] = []
  ctx.get('llm')?.guard((call) => {
    seen.push(call.system ?? '')
    if (call.system === 'changed') throw new DshError('INVARIANT', 'not what the log says')
  })
  const original = Object.freeze(options({ system: 'logged' }))
  await collect(ctx.get('llm')!.stream(original))
  ctx.on('llm/stream', (call, next) => {
    ;(call as { system?: string }).system = 'changed'
    return next()
  })
  await expect(collect(ctx.get('llm')!.stream(original))).rejects.toMatchObject({ code: 'INVARIANT' })
  expect(seen).toEqual(['logged', 'changed'])
  expect(calls).toBe(1)
  expect(original.system).toBe('logged')
})

test('a model with impossible numbers is refused', async () => {
  ctx
    .get('llm')
    ?.register(
      adapter('p', { resolveModel: (id, provider) => ({ provider, id, name: id, context: { contextWindow: -1 } }) }),
    )
  await expect(ctx.get('llm')!.resolveModel('p', 'm')).rejects.toMatchObject({ code: 'INVALID_MODEL_CONTEXT' })
})
