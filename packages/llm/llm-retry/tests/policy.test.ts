import { defaultRetryPolicy, resolveRetryPolicy } from '@dsh/llm'
import { expect, test } from 'vitest'
import { policyKey, retryDelay } from '../src/policy.ts'

const failure = { code: 'SERVER', message: 'down' }

test('delays double from half a second to ten seconds, within a tenth either way', () => {
  const delays = (random: number) =>
    [1, 2, 3, 4, 5].map((n) => retryDelay(defaultRetryPolicy, n, failure, () => random))
  expect(delays(0)).toEqual([450, 900, 1800, 3600, 7200])
  expect(delays(0.5)).toEqual([500, 1000, 2000, 4000, 8000])
  expect(delays(0.999999)).toEqual([550, 1100, 2200, 4400, 8800])
})

test('the sixth failure of a step is final', () => {
  expect(retryDelay(defaultRetryPolicy, 6, failure, () => 0)).toBeUndefined()
})

test.each(['RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT', 'EMPTY_RESPONSE', 'STREAM_CLOSED', 'MALFORMED_RESPONSE'])(
  '%s is asked again by default',
  (code) => {
    expect(retryDelay(defaultRetryPolicy, 1, { code, message: '' }, () => 0.5)).toBe(500)
  },
)

test.each(['AUTH', 'QUOTA', 'INVALID_REQUEST', 'CONTEXT_WINDOW_EXCEEDED', 'HTTP_404', 'UNKNOWN'])(
  '%s is not',
  (code) => {
    expect(retryDelay(defaultRetryPolicy, 1, { code, message: '' }, () => 0.5)).toBeUndefined()
  },
)

test('a wait that the provider asks for is kept to the millisecond, up to a minute', () => {
  const asked = (providerRetryAfterMs: number) =>
    retryDelay(defaultRetryPolicy, 1, { ...failure, providerRetryAfterMs }, () => 0)
  expect(asked(12_345)).toBe(12_345)
  expect(asked(60_000)).toBe(60_000)
  expect(asked(60_001)).toBeUndefined()
})

test('always retries anything, with its own delays, however long the provider asks', () => {
  const policy = resolveRetryPolicy({ mode: 'always', initialDelayMs: 10, maxDelayMs: 50, jitterRatio: 0 })
  expect(retryDelay(policy, 40, { code: 'AUTH', message: '', providerRetryAfterMs: 9e9 }, () => 0)).toBe(50)
})

test('the key of a policy is what the log of other builds has', () => {
  const policy = resolveRetryPolicy({
    mode: 'normal',
    maxRetries: 1,
    retryableCodes: ['RATE_LIMIT'],
    backoff: { initialDelayMs: 1, maxDelayMs: 1, jitterRatio: 0 },
  })
  expect(policyKey(policy)).toBe('["normal",1,["RATE_LIMIT"],1,1,0]')
})
