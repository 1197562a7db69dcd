import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '@dsh/core'
import { readableMessage } from './readable.ts'
import type { RecordedEvent, Transcript } from './transcript.ts'
import { unifiedDiff } from './unified-diff.ts'

/** One model request as the log proves it was: the messages on the surface and the header in force. */
export interface RecordedRequest {
  readonly turn: number
  readonly step: number
  readonly messages: readonly RecordedEvent[]
  /** Over config and messages, normalised. The header's texts are compared through their own files. */
  readonly digest: string
}

/**
 * Folds a normalised transcript into its requests. A request is where a model call's first chunk arrives; one that
 * failed before any chunk is not seen here, and shows in the log itself.
 */
export function requestsOf(transcript: Transcript): RecordedRequest[] {
  const requests: RecordedRequest[] = []
  let surface: RecordedEvent[] = []
  let config: JsonValue = null
  let open = false
  for (const event of transcript.events) {
    if (event.surfaceOp !== undefined) surface = applied(surface, event)
    else if (event.type === 'request/header') config = (event.data['header'] as JsonObject)['config'] ?? null
    else if (event.type === 'assistant/chunk') {
      if (!open) requests.push(requestOf(event, surface, config))
      open = (event.data['chunk'] as JsonObject)['type'] !== 'finish'
    }
    if (event.type === 'step/end') open = false
  }
  return requests
}

function applied(surface: readonly RecordedEvent[], event: RecordedEvent): RecordedEvent[] {
  const op = event.surfaceOp
  if (op === undefined || op === 'append') return [...surface, event]
  const start = surface.findIndex((node) => node.seq === op.start)
  const end = surface.findIndex((node) => node.seq === op.end)
  return start < 0 || end < start ? [...surface, event] : surface.toSpliced(start, end - start + 1, event)
}

function requestOf(event: RecordedEvent, surface: readonly RecordedEvent[], config: JsonValue): RecordedRequest {
  const messages = surface.map((node) => messageOf(node))
  const digest = createHash('sha256').update(JSON.stringify({ config, messages })).digest('hex').slice(0, 12)
  return { turn: event.data['turn'] as number, step: event.data['step'] as number, messages: [...surface], digest }
}

function messageOf(node: RecordedEvent): JsonValue {
  return node.type === 'user/message' ? node.data : (node.data['message'] as JsonValue)
}

export interface RequestDrift {
  /** 1-based number of the request. */
  readonly request: number
  readonly turn: number
  readonly step: number
  readonly text: string
}

/** The first request that the model would have seen differently, and what is different in it. */
export function requestDrift(expected: Transcript, actual: Transcript): RequestDrift | undefined {
  const [want, got] = [requestsOf(expected), requestsOf(actual)]
  for (let at = 0; at < Math.max(want.length, got.length); at++) {
    const [a, b] = [want[at], got[at]]
    const where = { request: at + 1, turn: (b ?? a)?.turn ?? 0, step: (b ?? a)?.step ?? 0 }
    if (a === undefined) return { ...where, text: `a request more than the ${want.length} recorded` }
    if (b === undefined) return { ...where, text: `${got.length} requests were made, ${want.length} are recorded` }
    if (a.digest !== b.digest) return { ...where, text: firstDifference(a, b) }
  }
  return undefined
}

function firstDifference(want: RecordedRequest, got: RecordedRequest): string {
  const changed = want.messages.length > got.messages.length ? want.messages : got.messages
  const at = changed.findIndex((_, i) => json(want.messages[i]) !== json(got.messages[i]))
  if (at < 0) return 'the request config differs (model, effort or limits)'
  const [a, b] = [want.messages[at], got.messages[at]].map((node) => (node === undefined ? '' : readableMessage(node)))
  return `message ${at + 1}:\n${unifiedDiff(a as string, b as string, { from: 'recorded', to: 'now' })}`
}

function json(node: RecordedEvent | undefined): string {
  return node === undefined ? '' : JSON.stringify(messageOf(node))
}
