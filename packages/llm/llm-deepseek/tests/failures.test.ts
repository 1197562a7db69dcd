import { failureOf } from '@dsh/llm'
import { expect, test } from 'vitest'
import { httpFailure, readOverflow, retryAfter } from '../src/failures.ts'

const fail = (status: number, body: string, headers: Record<string, string> = {}) =>
  failureOf(httpFailure({ status, body, header: (name) => headers[name] }, 'DeepSeek'))
const error = (message: string, extra: object = {}) => JSON.stringify({ error: { message, ...extra } })

test.each([
  [401, error('Authentication Fails'), 'AUTH'],
  [403, error('quota exceeded'), 'AUTH'],
  [413, error('too big'), 'INVALID_REQUEST'],
  [402, error('Insufficient Balance'), 'QUOTA'],
  [402, '', 'QUOTA'],
  [429, error('Insufficient Balance'), 'QUOTA'],
  [429, error('x', { code: 'insufficient_quota' }), 'QUOTA'],
  [429, error('You exceeded your current quota, please check your plan'), 'QUOTA'],
  [429, error('slow down'), 'RATE_LIMIT'],
  [400, error("This model's maximum context length is 65536 tokens."), 'CONTEXT_WINDOW_EXCEEDED'],
  [400, error('x', { code: 'context_length_exceeded' }), 'CONTEXT_WINDOW_EXCEEDED'],
  [
    400,
    error('the request exceeds the available context size', { type: 'exceed_context_size_error' }),
    'CONTEXT_WINDOW_EXCEEDED',
  ],
  [400, error('bad temperature'), 'INVALID_REQUEST'],
  [500, error('usage limit reached'), 'QUOTA'],
  [500, 'oops', 'SERVER'],
  [503, '', 'SERVER'],
  [404, '{"detail":"no such model"}', 'HTTP_404'],
  [422, '', 'HTTP_422'],
])('HTTP %i with %s is %s', (status, body, code) => {
  expect(fail(status, body)).toMatchObject({ code, status })
})

test('the message is the server’s own, on one line, else it names the status', () => {
  expect(fail(400, error('line one\n  line two')).message).toBe('line one line two')
  expect(fail(400, error('re\u001b[31md\u0007')).message).toBe('re[31md')
  expect(fail(502, '<html>').message).toBe('DeepSeek API error (HTTP 502)')
  expect(fail(404, '{"error":"model not found"}').message).toBe('model not found')
})

test('what the server says about waiting and about itself is kept', () => {
  expect(fail(429, error('slow'), { 'retry-after': '12', 'x-request-id': 'r1' })).toEqual({
    message: 'slow',
    code: 'RATE_LIMIT',
    status: 429,
    providerRetryAfterMs: 12_000,
    requestId: 'r1',
  })
})

test('a wait is given in seconds or as a date; nonsense is no wait', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfter('1.5', now)).toBe(1500)
  expect(retryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000)
  expect(retryAfter('Wed, 31 Dec 2025 00:00:30 GMT', now)).toBeUndefined()
  expect(retryAfter('soon', now)).toBeUndefined()
  expect(retryAfter('0', now)).toBeUndefined()
})

test.each([
  [
    "This model's maximum context length is 32768 tokens. However, you requested 256512 tokens (512 in the messages, 256000 in the completion).",
    { window: 32768, promptTokens: 512, outputIsToBlame: true },
  ],
  [
    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (131100 in the messages, 8900 in the completion).",
    { window: 131072, promptTokens: 131100, outputIsToBlame: false },
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 256000. This model's maximum context length is 32768 tokens and your request has 512 input tokens",
    { window: 32768, promptTokens: 512, outputIsToBlame: true },
  ],
  ['max_tokens is too large: the maximum context length is 4096', { window: 4096, outputIsToBlame: true }],
  [
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
    { window: 65536, outputIsToBlame: false },
  ],
  [
    'the request exceeds the available context size (8192 tokens), try increasing it',
    { window: 8192, outputIsToBlame: false },
  ],
  ['prompt is too long: 210000 tokens > 200000 maximum', { window: 200000, outputIsToBlame: false }],
  ['too many tokens', { outputIsToBlame: false }],
])('an overflow message is read: %s', (text, want) => {
  expect(readOverflow(text)).toEqual(want)
})
