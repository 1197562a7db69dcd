import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import * as llm from '@dsh/llm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBindings } from '../src/binding.ts'
import * as replay from '../src/index.ts'
import { fillChunk } from '../src/placeholders.ts'
import type { Script } from '../src/script.ts'

let dir: string
let ctx: Context
beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'dsh-replay-'))
  ctx = new Context()
  await ctx.plugin(llm)
})
afterEach(async () => {
  await ctx.fiber.dispose()
  rmSync(dir, { recursive: true })
})

function fixture(name: string, ...texts: string[]): string {
  const file = path.join(dir, name)
  const lines = texts.flatMap((text, i) =>
    [
      { type: 'text-delta', index: 0, text },
      { type: 'finish', reason: { kind: 'stop' } },
    ].map((chunk) => JSON.stringify({ type: 'assistant/chunk', data: { turn: 1, step: i + 1, chunk } })),
  )
  writeFileSync(file, ['{"type":"session","version":0,"id":"x"}', ...lines].join('\n'))
  return file
}

const user = (text: string) => ({
  role: 'user' as const,
  id: text,
  source: { kind: 'user' },
  content: [{ type: 'text' as const, text }],
})
const options = (over: Partial<GenerateOptions> = {}): GenerateOptions => ({
  provider: 'any',
  model: 'm',
  messages: [user('go')],
  sessionId: 's1',
  ...over,
})

async function ask(over: Partial<GenerateOptions> = {}): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = []
  for await (const chunk of ctx.get('llm')!.stream(options(over))) chunks.push(chunk)
  return chunks
}
const textOf = (chunks: readonly StreamChunk[]) =>
  chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.text : '')).join('')

test('calls are played in order, on whatever route they are made', async () => {
  await ctx.plugin(replay, replay.Config.parse({ file: fixture('session.jsonl', 'one', 'two') }))
  expect(textOf(await ask())).toBe('one')
  expect(() => ctx.get('llmReplay')!.assertConsumed()).toThrow(
    'llm-replay: fixture not fully consumed — session s1 consumed 1/2 recorded call(s); the scenario drove fewer model calls than recorded',
  )
  expect(textOf(await ask({ provider: 'other' }))).toBe('two')
  ctx.get('llmReplay')!.assertConsumed()
})

test('one call too many says how many there were', async () => {
  await ctx.plugin(replay, replay.Config.parse({ file: fixture('session.jsonl', 'one') }))
  await ask()
  await expect(ask()).rejects.toThrow(
    'llm-replay: script exhausted — session requested model call #2 but its script has only 1; re-record the scenario',
  )
})

test('a session that was not recorded is refused', async () => {
  await ctx.plugin(replay, replay.Config.parse({ file: fixture('session.jsonl', 'one') }))
  await ask()
  await expect(ask({ sessionId: 's2' })).rejects.toThrow(
    'llm-replay: a model call arrived from an unrecorded session (#2); the scenario recorded only 1 session(s) — re-record it',
  )
})

test('a scripted throw stays a throw on every route, and becomes a finish of a listed provider', async () => {
  const override = path.join(dir, 'replay.override.json')
  writeFileSync(override, JSON.stringify([{ kind: 'throw', chunks: [], message: 'busy', code: 'RATE_LIMIT' }]))
  const file = fixture('session.jsonl', 'one')
  const fiber = await ctx.plugin(replay, replay.Config.parse({ file, override }))
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMIT', message: 'busy' })
  await fiber.dispose()
  await ctx.plugin(replay, replay.Config.parse({ file, override, providers: [{ id: 'any' }] }))
  expect(await ask()).toEqual([
    { type: 'finish', reason: { kind: 'error', failure: { code: 'RATE_LIMIT', message: 'busy' } } },
  ])
})

test('a hanging call says that it is ready, and ends when it is cancelled', async () => {
  const readyFile = path.join(dir, 'ready')
  const override = path.join(dir, 'replay.override.json')
  writeFileSync(override, JSON.stringify([{ kind: 'hang', readyFile }]))
  await ctx.plugin(
    replay,
    replay.Config.parse({ file: fixture('session.jsonl'), override, providers: [{ id: 'any' }] }),
  )
  const controller = new AbortController()
  const asked = ask({ signal: controller.signal })
  while (!existsSync(readyFile)) await new Promise((resolve) => setTimeout(resolve, 5))
  controller.abort()
  const chunks = await asked
  expect(textOf(chunks)).toBe('partial')
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', reason: { kind: 'aborted' } })
})

test('listed models bring the facts that a header records', async () => {
  const models = [
    {
      id: 'm',
      contextWindow: 5,
      defaultMaxTokens: 3,
      reasoningEfforts: ['off', 'high'],
      defaultReasoningEffort: 'high',
    },
  ]
  await ctx.plugin(replay, replay.Config.parse({ file: fixture('session.jsonl'), providers: [{ id: 'any', models }] }))
  const prepared = await ctx.get('llm')!.prepareCall({ provider: 'any', model: 'm' })
  expect(prepared.config).toEqual({ provider: 'any', model: 'm', maxTokens: 3, reasoningEffort: 'high' })
  expect(prepared.model.context).toEqual({ contextWindow: 5 })
})

test('a title call takes no turn of the conversation', async () => {
  const file = fixture('session.jsonl', 'one')
  writeFileSync(
    file,
    `\n${JSON.stringify({ type: 'session/title', data: { title: 'Named', messageSeqs: [], source: { kind: 'provider', provider: 'p' } } })}`,
    { flag: 'a' },
  )
  await ctx.plugin(replay, replay.Config.parse({ file, providers: [{ id: 'any' }] }))
  expect(textOf(await ask({ purpose: 'session-title' }))).toBe('Named')
  expect(textOf(await ask())).toBe('one')
  expect((await ask({ purpose: 'session-title' })).at(-1)).toMatchObject({ reason: { kind: 'error' } })
})

test('a missing fixture, a missing path and a bad pace are named', async () => {
  const missing = path.join(dir, 'none.jsonl')
  await expect(ctx.plugin(replay, replay.Config.parse({ file: missing }))).rejects.toThrow(
    `llm-replay: fixture not found: ${missing}`,
  )
  await expect(ctx.plugin(replay, replay.Config.parse({}))).rejects.toThrow(
    'llm-replay: a fixture path is required (Config.file or $DSH_SNAPSHOT_FILE)',
  )
  expect(() => replay.Config.parse({ paceMs: -1 })).toThrow('llm-replay: paceMs must be a non-negative integer, got -1')
})

const script = (opening: string | undefined, id = ''): Script => ({
  calls: [{ kind: 'chunks', chunks: [] }],
  titles: [],
  opening,
  createdAt: 0,
  id,
})

test('parallel children find their own script by the words that opened it, whichever asks first', () => {
  const bindings = createBindings([script('plan'), script('do a', 'a'), script('do b', 'b')])
  bindings.take(options({ sessionId: 'root', messages: [user('plan')] }), false)
  bindings.take(options({ sessionId: 'c2', messages: [user('do b')] }), true)
  bindings.take(options({ sessionId: 'c1', messages: [user('do a')] }), true)
  expect(() => bindings.take(options({ sessionId: 'c1', messages: [user('do a')] }), true)).toThrow(
    '#2 but its script has only 1',
  )
  bindings.assertConsumed()
})

test('a child never takes the primary script, and the top session never a child’s', () => {
  const bindings = createBindings([script('plan'), script('plan')])
  bindings.take(options({ sessionId: 'child', messages: [user('plan')] }), true)
  bindings.take(options({ sessionId: 'root', messages: [user('other words')] }), false)
  bindings.assertConsumed()
})

test('a child that never came is counted', () => {
  const bindings = createBindings([script(undefined), script(undefined)])
  bindings.take(options(), undefined)
  expect(() => bindings.assertConsumed()).toThrow('1 recorded script(s) never bound to a live session')
})

test('a placeholder takes the last match in the request, its first group if it has one', () => {
  const messages = [user('job a-1 started'), user('job a-2 started')]
  const fill = (text: string) => fillChunk({ type: 'text-delta', index: 0, text }, messages)
  expect(fill('see {{fromRequest:job (\\S+)}} and {{fromRequest:a-\\d{1}}}')).toEqual({
    type: 'text-delta',
    index: 0,
    text: 'see a-2 and a-2',
  })
  expect(() => fill('{{fromRequest:zzz}}')).toThrow('matched nothing in the request')
  expect(() => fill('{{fromRequest:(}}')).toThrow('invalid pattern')
  expect(() => fill('{{fromRequest:abc')).toThrow('is unterminated')
})
