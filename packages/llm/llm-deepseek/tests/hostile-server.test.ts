import { Context } from '@dsh/cordis'
import type { StreamChunk } from '@dsh/llm'
import * as llm from '@dsh/llm'
import { type BehaviourName, behaviours, type MockServer, type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { afterEach, expect, test, vi } from 'vitest'
import * as deepseek from '../src/index.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const step of undo.splice(0).reverse()) await step()
})

async function serve(...steps: MockStep[]): Promise<MockServer> {
  const server = await startMockServer({ steps, sideCalls: 'script' })
  undo.push(() => server.close())
  return server
}

async function mount(server: { url: string }, config: object = {}): Promise<Context> {
  vi.stubEnv('DEEPSEEK_API_KEY', 'test-key')
  const ctx = new Context()
  undo.push(() => ctx.fiber.dispose())
  await ctx.plugin(llm)
  await ctx.plugin(deepseek, deepseek.Config.parse({ baseURL: server.url, ...config }))
  return ctx
}

async function ask(ctx: Context, over: object = {}): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = []
  const options = { provider: 'deepseek-official', model: 'deepseek-v4-flash', messages: [], ...over }
  for await (const chunk of ctx.get('llm')!.stream(options)) chunks.push(chunk)
  return chunks
}

function outcome(chunks: readonly StreamChunk[]): string {
  const last = chunks.at(-1)
  if (last?.type !== 'finish') return 'no finish'
  const { reason } = last
  return reason.kind === 'error' || reason.kind === 'aborted'
    ? `${reason.failure.code}: ${reason.failure.message}`
    : reason.kind
}

const endings: Record<BehaviourName, string | RegExp> = {
  success: 'stop',
  slow_success: 'stop',
  reasoning_success: 'stop',
  tool_call_success: 'tool-calls',
  max_tokens: 'max-tokens',
  connection_reset: /^TRANSPORT: DeepSeek API request to http:\/\/127\.0\.0\.1:\d+ failed: /,
  stream_disconnect: /^TRANSPORT: DeepSeek API stream from http:\/\/127\.0\.0\.1:\d+ failed/,
  partial_disconnect: /^TRANSPORT: DeepSeek API stream from http:\/\/127\.0\.0\.1:\d+ failed/,
  goaway: 'stop',
  stall: 'TIMEOUT: DeepSeek stream idle timeout after 300ms',
  stall_before_headers: 'TIMEOUT: DeepSeek stream idle timeout after 300ms',
  comments_then_answer: 'stop',
  comments_forever: 'TIMEOUT: DeepSeek stream idle timeout after 600ms',
  slow_drip: 'stop',
  empty: 'EMPTY_RESPONSE: model returned a completed response with no content',
  empty_body: 'STREAM_CLOSED: SSE stream ended without [DONE]',
  stream_eof: 'STREAM_CLOSED: SSE stream ended without [DONE]',
  partial_eof: 'STREAM_CLOSED: SSE stream ended without [DONE]',
  malformed_json: 'MALFORMED_RESPONSE: malformed SSE payload: {bad',
  malformed_event: 'MALFORMED_RESPONSE: malformed SSE payload: [1,2]',
  half_json: /^MALFORMED_RESPONSE: malformed SSE payload: \{"id":"mock"/,
  wrong_content_type: /^MALFORMED_RESPONSE: .* answered application\/json instead of an event stream: \{"id"/,
  html_page: /^MALFORMED_RESPONSE: .* answered text\/html instead of an event stream: <html>.*Wi-Fi/,
  error_event: 'SERVER: upstream exploded',
  error_event_done: 'SERVER: upstream exploded',
  json_error_200: 'SERVER: overloaded',
  empty_ids: 'tool-calls',
  duplicate_ids: 'tool-calls',
  giant_delta: 'stop',
  endless_line: /^MALFORMED_RESPONSE: DeepSeek sent one event of more than \d+ characters$/,
  crlf_and_bom: 'stop',
  split_utf8: 'stop',
  gzip: 'stop',
  redirect_loop: /^HTTP_307: DeepSeek API error \(HTTP 307\)/,
  rate_limit: 'RATE_LIMIT: slow down',
  rate_limit_wait: 'RATE_LIMIT: slow down',
  rate_limit_too_long: 'RATE_LIMIT: slow down',
  server_error: 'SERVER: internal error',
  service_unavailable: 'SERVER: overloaded',
  bad_gateway_html: 'SERVER: DeepSeek API error (HTTP 502)',
  auth_error: 'AUTH: Authentication Fails',
  invalid_request: 'INVALID_REQUEST: Invalid parameter',
  context_overflow: /^CONTEXT_WINDOW_EXCEEDED: This model's maximum context length is 65536/,
  quota_exceeded: 'QUOTA: Insufficient Balance',
  not_found: 'HTTP_404: no such model',
  unknown_finish: 'CONTENT_FILTER: model stopped: content_filter',
}

/** These end by the clock; the others have more time than a busy machine needs. */
const silent: readonly BehaviourName[] = ['stall', 'stall_before_headers', 'comments_forever']

test.each(Object.keys(behaviours) as BehaviourName[])(
  'a server that does %s ends the call as documented, in time',
  async (behaviour) => {
    const server = await serve({ behaviour })
    const [idle, stall, bound] = silent.includes(behaviour) ? [300, 600, 5000] : [10_000, 15_000, 15_000]
    const ctx = await mount(server, { streamIdleTimeoutMs: idle, streamStallTimeoutMs: stall })
    const started = Date.now()
    const got = outcome(await ask(ctx))
    expect(got).toMatch(endings[behaviour])
    expect(got.includes('\n')).toBe(false)
    expect(Date.now() - started).toBeLessThan(bound)
  },
)

test('a line that never ends runs into the clock where bytes come too slowly for the other limit', async () => {
  const server = await serve({ behaviour: 'endless_line' })
  const ctx = await mount(server, { streamIdleTimeoutMs: 10_000, streamStallTimeoutMs: 5 })
  expect(outcome(await ask(ctx))).toBe('TIMEOUT: DeepSeek stream idle timeout after 5ms')
})

test('text is whole after odd packets, a byte order mark and compression', async () => {
  const server = await serve({ behaviour: 'split_utf8' }, { behaviour: 'crlf_and_bom' }, { behaviour: 'gzip' })
  const ctx = await mount(server)
  const texts: string[] = []
  for (let i = 0; i < 3; i++) {
    const end = (await ask(ctx)).find((chunk) => chunk.type === 'block-end')
    texts.push(end?.type === 'block-end' && end.block.type === 'text' ? end.block.text : '')
  }
  expect(texts).toEqual(['grüße 😀', 'mock answer', 'mock answer'])
})

test('two calls with one id are told apart', async () => {
  const ctx = await mount(await serve({ behaviour: 'duplicate_ids' }))
  const ids = (await ask(ctx)).flatMap((chunk) =>
    chunk.type === 'block-end' && chunk.block.type === 'tool-call' ? [chunk.block.id] : [],
  )
  expect(ids).toEqual(['same', 'same-1'])
})

test('the chunks of an answer: starts, deltas that repeat id and name, ends in order, usage, finish', async () => {
  const server = await serve({
    reasoning: 'why',
    text: 'hi',
    calls: [{ name: 'bash', args: { a: 1 }, id: 'c1' }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 5,
      prompt_cache_hit_tokens: 60,
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  })
  expect(await ask(await mount(server))).toEqual([
    { type: 'block-start', index: 0, blockType: 'reasoning' },
    { type: 'reasoning-delta', index: 0, text: 'why' },
    { type: 'block-start', index: 1, blockType: 'text' },
    { type: 'text-delta', index: 1, text: 'hi' },
    { type: 'block-start', index: 2, blockType: 'tool-call' },
    { type: 'tool-call-delta', index: 2, id: 'c1', name: 'bash', argumentsDelta: '' },
    { type: 'tool-call-delta', index: 2, id: 'c1', name: 'bash', argumentsDelta: '{"a":1}' },
    { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'why' } },
    { type: 'block-end', index: 1, block: { type: 'text', text: 'hi' } },
    { type: 'block-end', index: 2, block: { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"a":1}' } },
    { type: 'usage', usage: { inputTokens: 40, outputTokens: 5, cacheReadTokens: 60, reasoningTokens: 2 } },
    { type: 'finish', reason: { kind: 'tool-calls' } },
  ])
})

test('requests name dsh, carry the key and nothing that tracks a person', async () => {
  const server = await serve({ text: 'hi' })
  await ask(await mount(server), { sessionId: 'session-1' })
  const { headers, body } = server.requests[0]!
  expect(headers['user-agent']).toMatch(/^dsh\/\d/)
  expect(headers.authorization).toBe('Bearer test-key')
  expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual([])
  expect(body.max_tokens).toBe(256_000)
})

test('connections are kept: a request that follows at once needs at most a second one', async () => {
  const server = await serve({ text: 'hi' })
  const ctx = await mount(server)
  for (let i = 0; i < 8; i++) await ask(ctx)
  expect(server.connections).toBeLessThanOrEqual(2)
})

test('a kept connection that the server dropped is replaced without a failure', async () => {
  const server = await serve({ behaviour: 'goaway' }, { text: 'second' })
  const ctx = await mount(server)
  await ask(ctx)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(outcome(await ask(ctx))).toBe('stop')
})

test('a connection that dies unnoticed after a rest is replaced; one that is reset at once is a failure', async () => {
  const server = await serve({ text: 'first' }, { behaviour: 'connection_reset' }, { text: 'third' })
  const ctx = await mount(server)
  await ask(ctx)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  expect(outcome(await ask(ctx))).toBe('stop')
  const other = await serve({ text: 'first' }, { behaviour: 'connection_reset' }, { text: 'third' })
  const hasty = await mount(other)
  await ask(hasty)
  expect(outcome(await ask(hasty))).toMatch(/^TRANSPORT/)
})

test('keep-alive comments hold the line open while the model thinks', async () => {
  const server = await serve({ behaviour: 'comments_then_answer', ms: 500 })
  expect(outcome(await ask(await mount(server, { streamIdleTimeoutMs: 250 })))).toBe('stop')
})

test('a caller’s abort ends the call at once and is no error of the server', async () => {
  const server = await serve({ behaviour: 'stall' })
  const ctx = await mount(server)
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 50)
  const chunks = await ask(ctx, { signal: controller.signal })
  expect(chunks.at(-1)).toEqual({
    type: 'finish',
    reason: { kind: 'aborted', failure: { message: 'DeepSeek request aborted by caller', code: 'ABORTED' } },
  })
})

test('without a key nothing is sent, and the text says what to do', async () => {
  const server = await serve({ text: 'hi' })
  const ctx = await mount(server)
  vi.stubEnv('DEEPSEEK_API_KEY', '')
  expect(outcome(await ask(ctx))).toBe(
    'MISSING_CREDENTIAL: llm-deepseek: no API key for provider route "deepseek-official"; store DEEPSEEK_API_KEY with `dsh login`, or export DEEPSEEK_API_KEY in the launching environment',
  )
  expect(server.requests).toEqual([])
})

test('a key that no header can carry is named, never echoed', async () => {
  const ctx = await mount(await serve({ text: 'hi' }))
  vi.stubEnv('DEEPSEEK_API_KEY', 'sk-🔑secret')
  const got = outcome(await ask(ctx))
  expect(got).toMatch(/^INVALID_CREDENTIAL: llm-deepseek: the API key resolved from DEEPSEEK_API_KEY contains/)
  expect(got).not.toContain('secret')
})

test('a refused connection says where it was going and why', async () => {
  const server = await serve({ text: 'hi' })
  await server.close()
  expect(outcome(await ask(await mount(server)))).toMatch(
    /^TRANSPORT: DeepSeek API request to http:\/\/127\.0\.0\.1:\d+ failed: .*ECONNREFUSED/,
  )
})

test('a server with a smaller window than thought is asked again for less output, and the window is remembered', async () => {
  const overflow = {
    status: 400,
    body: JSON.stringify({
      error: {
        message:
          "This model's maximum context length is 32768 tokens. However, you requested 256012 tokens (12 in the messages, 256000 in the completion)",
      },
    }),
  }
  const server = await serve(overflow, { text: 'fits' })
  const ctx = await mount(server)
  expect(outcome(await ask(ctx))).toBe('stop')
  expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([256_000, 32756])
  const model = await ctx.get('llm')!.resolveModel('deepseek-official', 'deepseek-v4-flash')
  expect(model.context).toEqual({ contextWindow: 32768 })
})

test('a prompt that is itself too long for the window is not asked again', async () => {
  const server = await serve({ behaviour: 'context_overflow' })
  const ctx = await mount(server)
  const long = {
    role: 'user',
    id: 'u',
    source: { kind: 'user' },
    content: [{ type: 'text', text: 'x'.repeat(300_000) }],
  }
  expect(outcome(await ask(ctx, { messages: [long] }))).toMatch(/^CONTEXT_WINDOW_EXCEEDED/)
  expect(server.requests.length).toBe(1)
})

test('the output cap is what the window leaves beside the prompt', async () => {
  const server = await serve({ text: 'hi' })
  const ctx = await mount(server, { models: [{ id: 'deepseek-v4-flash', contextWindow: 20_000, maxTokens: 16_000 }] })
  const long = {
    role: 'user',
    id: 'u',
    source: { kind: 'user' },
    content: [{ type: 'text', text: 'x'.repeat(30_000) }],
  }
  await ask(ctx, { messages: [long] })
  expect(server.requests[0]!.body.max_tokens).toBeLessThan(10_000)
  expect(server.requests[0]!.body.max_tokens).toBeGreaterThan(9_000)
})

test('a key that the server repeats in its refusal is not passed on', async () => {
  const server = await serve({ status: 401, body: JSON.stringify({ error: { message: 'bad key test-key' } }) })
  expect(outcome(await ask(await mount(server)))).toBe('AUTH: bad key [key]')
})
