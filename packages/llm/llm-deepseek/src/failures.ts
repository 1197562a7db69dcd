import type { DshError } from '@dsh/core'
import { LlmCode, llmError } from '@dsh/llm'

const QUOTA =
  /insufficient[ _-]?(balance|quota|funds|credits?)|quota[ _-]?(exceeded|exhausted)|exceeded[^.]{0,40}quota|usage limit reached|out of credits|requires more credits/i
const CONTEXT =
  /maximum context length|context[ _-]?(length|window|size)[ _-]?(is )?exceed|exceed\w*[^.]{0,60}context[ _-]?(length|window|size)|exceed_context_size|prompt is too long|input is too long|too many input tokens|reduce the length of the (messages|prompt|input)/i
const WINDOW = [
  /maximum context length (?:is|of) (\d{3,})/i,
  /context[ _-]?(?:length|window|size)[^\d.]{0,30}(\d{3,})/i,
  /"n_ctx"\s*:\s*(\d{3,})/,
  /\d+ tokens? > (\d{3,}) maximum/i,
]

const PROMPT = [
  /(\d+) (?:tokens )?in the (?:messages|prompt|input)/i,
  /(\d+) (?:input|prompt) tokens/i,
  /(?:messages|prompt) resulted in (\d+) tokens/i,
]
const OUTPUT = /max(_completion)?_tokens'? (or '?max_completion_tokens'? )?(is|are) too large/i

export interface HttpFacts {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** The failure that an HTTP status and body mean. Quota wording wins over 429, 400 and 5xx; it is never worth a retry. */
export function httpFailure(facts: HttpFacts, displayName: string): DshError {
  const { status, body } = facts
  const said = readError(body)
  const message = said.message ?? `${displayName} API error (HTTP ${status})`
  return llmError(codeOf(status, `${said.kind} ${message}`), message, {
    status,
    providerRetryAfterMs: retryAfter(facts.header('retry-after')),
    requestId: facts.header('x-request-id') ?? facts.header('x-deepseek-request-id'),
  })
}

/** The failure that an `error` object inside a stream means; the status line has long said 200. */
export function eventFailure(event: unknown, displayName: string): DshError {
  const said = readError(JSON.stringify(event))
  const message = said.message ?? `${displayName} API reported an error inside the stream`
  const words = `${said.kind} ${message}`
  if (QUOTA.test(words)) return llmError(LlmCode.QUOTA, message)
  if (CONTEXT.test(words)) return llmError(LlmCode.CONTEXT_WINDOW_EXCEEDED, message)
  return llmError(LlmCode.SERVER, message)
}

function codeOf(status: number, words: string): string {
  if (status === 401 || status === 403) return LlmCode.AUTH
  if (status === 413) return LlmCode.INVALID_REQUEST
  if (status === 402 || QUOTA.test(words)) return LlmCode.QUOTA
  if (status === 429) return LlmCode.RATE_LIMIT
  if (status === 400) return CONTEXT.test(words) ? LlmCode.CONTEXT_WINDOW_EXCEEDED : LlmCode.INVALID_REQUEST
  if (status >= 500) return LlmCode.SERVER
  return `HTTP_${status}`
}

export interface Overflow {
  /** The context window that the server has. */
  readonly window?: number
  /** What it counted in the prompt. */
  readonly promptTokens?: number
  /** It was the output cap that did not fit, not the prompt. */
  readonly outputIsToBlame: boolean
}

/** What an overflow message says about the numbers. */
export function readOverflow(text: string): Overflow {
  const window = firstNumber(text, WINDOW)
  const promptTokens = firstNumber(text, PROMPT)
  const fits = promptTokens !== undefined && window !== undefined && promptTokens < window
  return {
    ...(window === undefined ? {} : { window }),
    ...(promptTokens === undefined ? {} : { promptTokens }),
    outputIsToBlame: window !== undefined && (fits || (promptTokens === undefined && OUTPUT.test(text))),
  }
}

function firstNumber(text: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const found = Number(pattern.exec(text)?.[1])
    if (Number.isSafeInteger(found)) return found
  }
  return undefined
}

/** `{error:{message,code,type}}` and the other shapes that servers answer with; one line, bounded. */
function readError(body: string): { message: string | undefined; kind: string } {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { message: undefined, kind: '' }
  }
  const top = fields(parsed)
  const error = typeof top['error'] === 'string' ? { message: top['error'] } : fields(top['error'])
  const message = [error['message'], top['message'], top['detail']].find(
    (text) => typeof text === 'string' && text.trim() !== '',
  )
  return {
    message: typeof message === 'string' ? oneLine(message).slice(0, 2000) : undefined,
    kind: `${error['code'] ?? ''} ${error['type'] ?? ''}`,
  }
}

/** Words of a stranger: no line breaks, and nothing that a terminal takes for a command. */
export function oneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim()
}

function fields(value: unknown): { [key: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [key: string]: unknown }) : {}
}

/** Seconds or an HTTP date, as milliseconds from now. */
export function retryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds > 0 ? Math.ceil(seconds * 1000) : undefined
  const at = Date.parse(header)
  return Number.isFinite(at) && at > now ? at - now : undefined
}
