import type { SessionEvent } from '@dsh/session'
import { push, seconds, type Transcript } from './items.ts'
import { dropLive } from './live-blocks.ts'

/** What to do about a failed request; undefined where its own words say it. Lower case, without a stop. */
export function failureAdvice(code: string, provider: string | undefined): string | undefined {
  const official = provider === undefined || provider === 'deepseek-official'
  const server = official ? 'DEEPSEEK_BASE_URL' : `baseURL of provider "${provider}"`
  switch (code) {
    case 'TRANSPORT':
    case 'TIMEOUT':
      return `check the network and ${server}`
    case 'AUTH':
      return `the server refused the key: store another one with ${official ? '/login' : '"dsh login NAME"'}, or see where it comes from with /doctor`
    case 'MISSING_CREDENTIAL':
    case 'INVALID_CREDENTIAL':
      return official ? '/login stores one here' : undefined
    case 'HTTP_404':
      return `check the name of the model (/model) and ${server}`
    case 'QUOTA':
      return 'top up the account, or choose another model with /model'
    case 'NO_ADAPTER':
      return 'no row serves this provider: choose another with /model, or insert its row and start again'
    default:
      return undefined
  }
}

/** A failure in words, and what to check. */
export function failureText({ code, message }: { code: string; message: string }, t: Transcript): string {
  const advice = failureAdvice(code, t.provider)
  const sentence = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
  return `${code}: ${message}${sentence}`
}

export function addRetry(t: Transcript, { data, time }: Extract<SessionEvent, { type: 'llm/retry' }>): void {
  dropLive(t)
  t.streamedSince = undefined
  const text = `retry ${data.retry}${data.maxRetries === undefined ? '' : ` of ${data.maxRetries}`}`
  const failure = `${data.failure.code}: ${data.failure.message}`
  const again = failure === t.lastFailure
  const advice = failureAdvice(data.failure.code, data.provider)
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
