import { deepFreeze, isDshError } from '@dsh/core'
import type { Message } from '@dsh/llm'
import { isSeq, refuseLegacyHeader } from './append-rules.ts'
import { sessionError } from './errors.ts'
import { surfaceTypes } from './known-types.ts'
import { Surface } from './surface.ts'
import type { SessionEvent } from './types.ts'

/** Checks the events of a restored log as strictly as live appends were, and freezes them. */
export function validateSeed(seed: readonly SessionEvent[]): readonly SessionEvent[] {
  const surface = new Surface((seq) => seed[seq])
  seed.forEach((event, i) => {
    checkEnvelope(event, i)
    checkShape(event, i)
    try {
      refuseLegacyHeader(event.type, event.data)
      surface.check(event)
    } catch (error) {
      throw invalidSeed(`invalid seed event at index ${i}: ${isDshError(error) ? error.message : String(error)}`, error)
    }
    surface.apply(event)
    freezeTree(event)
  })
  return seed
}

export function isEnvelope(value: unknown): value is SessionEvent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const event = value as Record<string, unknown>
  for (const key in event) if (!isEnvelopeKey(key)) return false
  const { type, seq, time, data, ignorable } = event
  return (
    typeof type === 'string' &&
    isSeq(seq) &&
    Number.isSafeInteger(time) &&
    typeof data === 'object' &&
    data !== null &&
    !Array.isArray(data) &&
    (ignorable === undefined || ignorable === true)
  )
}

function isEnvelopeKey(key: string): boolean {
  switch (key) {
    case 'type':
    case 'seq':
    case 'time':
    case 'data':
    case 'sourceEventSeqs':
    case 'surfaceOp':
    case 'ignorable':
      return true
    default:
      return false
  }
}

function checkEnvelope(event: SessionEvent, i: number): void {
  if (!isEnvelope(event)) throw invalidSeed(`seed event at index ${i} has an invalid event envelope`)
  if ((event as SessionEvent).seq !== i)
    throw invalidSeed(
      `seed event at index ${i} has seq ${(event as SessionEvent).seq} (expected ${i}); seed must be contiguous from 0`,
    )
}

function checkShape(event: SessionEvent, i: number): void {
  const why = (text: string) => invalidSeed(`seed ${event.type} at index ${i} ${text}`)
  if (event.type === 'request/header') checkHeader(event.data as unknown as Record<string, unknown>, why)
  if (!surfaceTypes.has(event.type)) return
  const data = event.data as unknown as Record<string, unknown>
  const message = (event.type === 'user/message' ? data : data['message']) as Message | undefined
  if (typeof message !== 'object' || message === null || typeof message.id !== 'string' || message.id === '')
    throw why('lacks an identified message')
  const role = event.type === 'assistant/message' ? 'assistant' : 'user'
  if (message.role !== role) throw why(`message must have role "${role}"`)
  const source = message.source as unknown as Record<string, unknown> | undefined
  if (typeof source !== 'object' || source === null || typeof source['kind'] !== 'string')
    throw why('message has invalid source')
  if (!Array.isArray(message.content) || !message.content.every(isBlock)) throw why('message has invalid content')
  if (event.type === 'assistant/message') {
    if (source['kind'] !== 'model' || typeof source['provider'] !== 'string' || typeof source['model'] !== 'string')
      throw why('message must have model source')
  }
  if (event.type !== 'tool/result') return
  if (source['kind'] !== 'tool' || typeof source['callId'] !== 'string') throw why('message must have tool source')
  const block = message.content[0]
  if (message.content.length !== 1 || block?.type !== 'tool-result')
    throw why('message must contain one tool-result block')
  if (block.toolCallId !== source['callId']) throw why('message has mismatched tool call ids')
}

function isBlock(block: unknown): boolean {
  if (typeof block !== 'object' || block === null) return false
  const fields = block as Record<string, unknown>
  switch (fields['type']) {
    case 'text':
    case 'reasoning':
      return typeof fields['text'] === 'string'
    case 'image':
      return typeof fields['attachment'] === 'object' && fields['attachment'] !== null
    case 'tool-call':
      return (
        typeof fields['id'] === 'string' &&
        typeof fields['name'] === 'string' &&
        typeof fields['arguments'] === 'string'
      )
    case 'tool-result':
      return (
        typeof fields['toolCallId'] === 'string' &&
        typeof fields['isError'] === 'boolean' &&
        Array.isArray(fields['content']) &&
        fields['content'].every(isBlock)
      )
    default:
      return false
  }
}

function checkHeader(data: Record<string, unknown>, why: (text: string) => Error): void {
  const header = data['header'] as Record<string, unknown> | undefined
  const config = header?.['config'] as Record<string, unknown> | undefined
  if (typeof config?.['provider'] !== 'string' || typeof config['model'] !== 'string') throw why('lacks provider/model')
  const effort = config['reasoningEffort']
  if (effort !== undefined && (typeof effort !== 'string' || effort === '')) throw why('has an invalid reasoningEffort')
  const defaults = header?.['adapterDefaults']
  if (defaults === undefined) return
  const isMarks =
    typeof defaults === 'object' &&
    defaults !== null &&
    Object.entries(defaults).every(([key, mark]) => ['reasoningEffort', 'maxTokens'].includes(key) && mark === true)
  if (!isMarks) throw why('has invalid adapterDefaults')
}

/** `deepFreeze` for trees that nobody else froze a part of: children first, and recursive, which is three times as fast. */
function freezeTree(event: SessionEvent): void {
  try {
    freezeChildrenFirst(event)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    deepFreeze(event)
  }
}

function freezeChildrenFirst(node: object): void {
  if (Object.isFrozen(node)) return
  if (Array.isArray(node)) {
    for (const child of node) if (typeof child === 'object' && child !== null) freezeChildrenFirst(child)
  } else {
    for (const key in node) {
      const child = (node as Record<string, unknown>)[key]
      if (typeof child === 'object' && child !== null) freezeChildrenFirst(child)
    }
  }
  Object.freeze(node)
}

function invalidSeed(message: string, cause?: unknown) {
  return sessionError('SESSION_INVALID_SEED', message, cause)
}
