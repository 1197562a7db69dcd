import type { SessionEvent } from '@dsh/session'
import { push, seconds, type Transcript } from './items.ts'
import { dropLive } from './live-blocks.ts'

/** What to look at when no server answers; undefined where the failure has other reasons. Lower case, without a stop. */
export function addressAdvice(code: string, provider: string | undefined): string | undefined {
  if (code !== 'TRANSPORT' && code !== 'TIMEOUT') return undefined
  const official = provider === undefined || provider === 'deepseek-official'
  return `check the network and ${official ? 'DEEPSEEK_BASE_URL' : `baseURL of provider "${provider}"`}`
}

/** A failure in words, and what to check. */
export function failureText({ code, message }: { code: string; message: string }, t: Transcript): string {
  const advice = addressAdvice(code, t.provider)
  const sentence = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
  return `${code}: ${message}${sentence}`
}

export function addRetry(t: Transcript, { data, time }: Extract<SessionEvent, { type: 'llm/retry' }>): void {
  dropLive(t)
  t.streamedSince = undefined
  const text = `retry ${data.retry}${data.maxRetries === undefined ? '' : ` of ${data.maxRetries}`}`
  const failure = `${data.failure.code}: ${data.failure.message}`
  const again = failure === t.lastFailure
  const advice = addressAdvice(data.failure.code, data.provider)
  t.lastFailure = failure
  t.retry = { text, until: time + data.delayMs, ...(advice === undefined ? {} : { advice }) }
  push(t, {
    kind: 'notice',
    tone: 'warn',
    text: `${again ? 'failed again' : `request failed (${failure})`}; ${text} in ${seconds(data.delayMs)}`,
  })
}

export function startRetry(t: Transcript): void {
  if (t.retry === undefined) return
  const { until, ...asking } = t.retry
  t.retry = asking
}
