import { errorText, isDshError } from '@dsh/core'
import { LlmCode, llmError, type StreamChunk } from '@dsh/llm'
import { eventFailure, httpFailure, oneLine } from './failures.ts'
import { createStreamReader } from './stream-reader.ts'
import type { HttpReply, Transport } from './transport.ts'
import { type Watchdog, watch } from './watchdog.ts'

export interface CallPlan {
  readonly displayName: string
  readonly baseURL: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly Uint8Array[]
  readonly idleMs: number
  readonly stallMs: number
  readonly maxResponseBytes: number
  readonly requireDone: boolean
  readonly signal: AbortSignal | undefined
}

const MAX_ERROR_BODY = 65_536

/**
 * One request and its stream, as the batches in which it came over the network. Every failure is thrown with its code;
 * nothing is yielded after `[DONE]`.
 */
export async function* callServer(transport: Transport, plan: CallPlan): AsyncIterable<readonly StreamChunk[]> {
  const dog = watch(plan.signal, plan.idleMs, plan.stallMs)
  let reply: HttpReply | undefined
  try {
    reply = await named(dog, plan, 'request to', () => send(transport, plan, dog.signal))
    dog.pulse()
    if (reply.status !== 200) throw await refused(reply, plan, dog)
    const type = (reply.header('content-type') ?? '').toLowerCase()
    if (/^(application\/json|text\/html)/.test(type)) throw await noStream(reply, plan, dog, type)
    yield* readStream(reply, plan, dog)
  } finally {
    dog.stop()
    reply?.release()
  }
}

function send(transport: Transport, plan: CallPlan, signal: AbortSignal): Promise<HttpReply> {
  return transport.post(new URL(`${plan.baseURL}/chat/completions`), plan.headers, plan.body, signal)
}

async function* readStream(reply: HttpReply, plan: CallPlan, dog: Watchdog): AsyncIterable<readonly StreamChunk[]> {
  const reader = createStreamReader(plan.displayName)
  const bytes = reply.body[Symbol.asyncIterator]()
  let received = 0
  while (true) {
    const next = await named(dog, plan, 'stream from', () => bytes.next())
    dog.pulse()
    received += next.done === true ? 0 : next.value.byteLength
    if (received > plan.maxResponseBytes)
      throw llmError(
        LlmCode.MALFORMED_RESPONSE,
        `${plan.displayName} answered more than ${plan.maxResponseBytes} bytes`,
      )
    const { chunks, end } = next.done === true ? reader.close(plan.requireDone) : reader.feed(next.value)
    if (chunks.length > 0) {
      dog.progress()
      yield chunks
    }
    if (end?.failure !== undefined) throw end.failure
    if (end !== undefined) return
  }
}

/** Runs one wait on the network and says what its failure means. */
async function named<T>(
  dog: Watchdog,
  plan: CallPlan,
  what: 'request to' | 'stream from',
  wait: () => Promise<T>,
): Promise<T> {
  try {
    return await wait()
  } catch (error) {
    if (isDshError(error)) throw error
    if (dog.expired !== undefined)
      throw llmError(LlmCode.TIMEOUT, `${plan.displayName} stream idle timeout after ${dog.expired}ms`)
    if (plan.signal?.aborted) throw llmError(LlmCode.ABORTED, `${plan.displayName} request aborted by caller`)
    const message = `${plan.displayName} API ${what} ${plan.baseURL} failed`
    throw llmError(LlmCode.TRANSPORT, `${message}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Node hides the reasons of a refused connection to a name with several addresses in an AggregateError. */
function reasonOf(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : undefined
  return errorText(inner ?? error).replace(/\s+/g, ' ')
}

async function refused(reply: HttpReply, plan: CallPlan, dog: Watchdog): Promise<Error> {
  const body = await readBounded(reply, plan, dog)
  return httpFailure({ status: reply.status, header: reply.header, body }, plan.displayName)
}

async function noStream(reply: HttpReply, plan: CallPlan, dog: Watchdog, type: string): Promise<Error> {
  const body = await readBounded(reply, plan, dog)
  if (/^\s*\{\s*"error"\s*:/.test(body)) {
    try {
      return eventFailure(JSON.parse(body), plan.displayName)
    } catch {
      // Not the object it began as: described below like any other text.
    }
  }
  const kind = type.split(';')[0]
  const excerpt = oneLine(body).slice(0, 120)
  return llmError(
    LlmCode.MALFORMED_RESPONSE,
    `${plan.displayName} API at ${plan.baseURL} answered ${kind} instead of an event stream: ${excerpt}`,
  )
}

/** As much of an error's body as is worth reading; a body that breaks off is as good as its beginning. */
async function readBounded(reply: HttpReply, plan: CallPlan, dog: Watchdog): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  const bytes = reply.body[Symbol.asyncIterator]()
  try {
    while (size < MAX_ERROR_BODY) {
      const next = await bytes.next()
      if (next.done === true) break
      dog.pulse()
      parts.push(next.value)
      size += next.value.byteLength
    }
  } catch (error) {
    if (plan.signal?.aborted)
      throw llmError(LlmCode.ABORTED, `${plan.displayName} request aborted by caller`, { cause: error })
  }
  const body = Buffer.concat(parts).toString('utf8', 0, MAX_ERROR_BODY)
  // Some servers repeat the key that they refuse; it has no place in a log or on a screen.
  const key = plan.headers['authorization']?.replace(/^Bearer /, '')
  return key === undefined || key === '' ? body : body.replaceAll(key, '[key]')
}
