import type { RequestError } from '@dsh/agent'
import { Context } from '@dsh/cordis'
import * as llm from '@dsh/llm'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as retryRow from '../src/index.ts'

let ctx: Context
let session: Session
let policy: llm.RetryPolicy

beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(llm)
  await ctx.plugin(sessionRow)
  ctx.provide('agents', {} as Context['agents'])
  policy = llm.resolveRetryPolicy({ mode: 'normal', maxRetries: 2, initialDelayMs: 1, maxDelayMs: 2, jitterRatio: 0 })
  ctx.get('llm')!.register({
    route: 'p',
    providerInfo: () => ({ id: 'p', name: 'P' }),
    retryPolicy: () => policy,
    resolveModel: (id, provider) => ({ provider, id, name: id }),
    // biome-ignore lint/correctness/useYield: never asked in these tests
    async *stream() {
      throw new Error('not asked')
    },
  })
  await ctx.plugin(retryRow)
  session = ctx.get('sessions')!.create({ ephemeral: true })
  session.append('turn/start', { turn: 1 })
  session.append('step/start', { turn: 1, step: 1 })
})
afterEach(() => ctx.fiber.dispose())

function fail(over: Partial<RequestError> = {}): Promise<{ kind: 'retry' } | undefined> {
  const input = {
    agent: { session },
    turn: 1,
    step: 1,
    provider: 'p',
    failure: { code: 'SERVER', message: 'down', status: 503 },
    signal: new AbortController().signal,
    ...over,
  } as RequestError
  return ctx.waterfall('agent/request-error', input, async () => undefined)
}

const retries = () =>
  session.events.filter((event) => event.type.startsWith('llm/')).map(({ type, data }) => ({ type, data }))

test('a retry is logged before its wait and when it starts, under one id, until the policy gives up', async () => {
  expect(await fail()).toEqual({ kind: 'retry' })
  expect(await fail()).toEqual({ kind: 'retry' })
  expect(await fail()).toBeUndefined()
  const logged = retries()
  const { retryId } = logged[0]!.data as { retryId: string }
  const base = { retryId, turn: 1, step: 1 }
  const first = {
    ...base,
    provider: 'p',
    mode: 'normal',
    policyKey:
      '["normal",2,["EMPTY_RESPONSE","MALFORMED_RESPONSE","RATE_LIMIT","SERVER","STREAM_CLOSED","TIMEOUT","TRANSPORT"],1,2,0]',
    retry: 1,
    maxRetries: 2,
    delayMs: 1,
    failure: { code: 'SERVER', message: 'down', status: 503 },
  }
  expect(logged).toEqual([
    { type: 'llm/retry', data: first },
    { type: 'llm/retry-started', data: { ...base, retry: 1 } },
    { type: 'llm/retry', data: { ...first, retry: 2, delayMs: 2 } },
    { type: 'llm/retry-started', data: { ...base, retry: 2 } },
  ])
})

test('another step counts from one again', async () => {
  await fail()
  session.append('step/end', { turn: 1, step: 1 })
  session.append('step/start', { turn: 1, step: 2 })
  await fail({ step: 2 })
  expect(retries().map(({ data }) => (data as { retry: number }).retry)).toEqual([1, 1, 1, 1])
})

test('a failure that is not worth a retry goes to the rows below', async () => {
  ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
  expect(await fail({ failure: { code: 'CONTEXT_WINDOW_EXCEEDED', message: 'too long' } })).toEqual({ kind: 'retry' })
  expect(retries()).toEqual([])
})

test('the mode always lets the rows below try first, then retries whatever it is', async () => {
  policy = llm.resolveRetryPolicy({ mode: 'always', initialDelayMs: 1, maxDelayMs: 1, jitterRatio: 0 })
  expect(await fail({ failure: { code: 'AUTH', message: 'no' } })).toEqual({ kind: 'retry' })
  expect(retries()[0]!.data).not.toHaveProperty('maxRetries')
  ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
  await fail()
  expect(retries().length).toBe(2)
})

test('a cancel during the wait throws its cause, and no attempt is logged as started', async () => {
  policy = llm.resolveRetryPolicy({ mode: 'normal', initialDelayMs: 60_000, maxDelayMs: 60_000, jitterRatio: 0 })
  const controller = new AbortController()
  const cause = { kind: 'user' }
  const failing = fail({ signal: controller.signal })
  setTimeout(() => controller.abort(cause), 10)
  await expect(failing).rejects.toBe(cause)
  expect(retries().map(({ type }) => type)).toEqual(['llm/retry'])
})

test('a policy in this row’s own config is sent to where it belongs', async () => {
  await expect(ctx.plugin(retryRow, { retryPolicy: {} })).rejects.toThrow(
    'llm-retry: retryPolicy belongs under each provider configuration',
  )
  await expect(ctx.plugin(retryRow, { other: 1 })).rejects.toThrow('llm-retry: unknown key "other"')
})
