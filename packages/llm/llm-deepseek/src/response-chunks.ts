import { type ContentBlock, type FinishReason, LlmCode, llmError, type StreamChunk, type TokenUsage } from '@dsh/llm'
import { eventFailure } from './failures.ts'

export interface ResponseMapper {
  /** The chunks of one wire object. */
  accept(wire: unknown): StreamChunk[]
  /** The closing chunks, once the stream said that it is done. */
  finish(): StreamChunk[]
  /** True once the server named a finish reason. */
  readonly finished: boolean
}

interface OpenBlock {
  readonly index: number
  readonly kind: 'text' | 'reasoning' | 'tool-call'
  readonly parts: string[]
  id: string
  name: string
}

type Json = { readonly [key: string]: unknown }

/** Turns the objects of a chat-completions stream into chunks. Indices are given in order of first appearance. */
export function createResponseMapper(displayName: string): ResponseMapper {
  const blocks: OpenBlock[] = []
  const calls = new Map<number | string, OpenBlock>()
  let reasoning: OpenBlock | undefined
  let text: OpenBlock | undefined
  let lastCall: OpenBlock | undefined
  let finishReason: string | undefined
  let usage: TokenUsage | undefined

  const open = (kind: OpenBlock['kind'], out: StreamChunk[]): OpenBlock => {
    const block: OpenBlock = { index: blocks.length, kind, parts: [], id: '', name: '' }
    blocks.push(block)
    out.push({ type: 'block-start', index: block.index, blockType: kind })
    return block
  }

  const callBlock = (part: Json, out: StreamChunk[]): OpenBlock => {
    const id = string(part['id'])
    // Servers that leave out the index start a new call with a new id.
    const key = typeof part['index'] === 'number' ? part['index'] : id !== '' ? id : undefined
    if (key === undefined && lastCall !== undefined) return lastCall
    const known = calls.get(key ?? 0)
    if (known !== undefined) return known
    const block = open('tool-call', out)
    calls.set(key ?? 0, block)
    return block
  }

  const acceptCall = (part: Json, out: StreamChunk[]): void => {
    const block = callBlock(part, out)
    lastCall = block
    const call = object(part['function'])
    block.id ||= string(part['id'])
    block.name ||= string(call?.['name'])
    const fragment = string(call?.['arguments'])
    block.parts.push(fragment)
    out.push({
      type: 'tool-call-delta',
      index: block.index,
      id: block.id,
      ...(block.name === '' ? {} : { name: block.name }),
      argumentsDelta: fragment,
    })
  }

  return {
    accept(wire) {
      const chunk = object(wire)
      if (chunk === undefined) throw malformed(JSON.stringify(wire))
      if (chunk['error'] !== undefined && chunk['error'] !== null) throw eventFailure(chunk, displayName)
      const counted = object(chunk['usage'])
      if (counted !== undefined) usage = readUsage(counted) ?? usage
      const choice = object(array(chunk['choices'])[0])
      if (choice === undefined) return []
      const out: StreamChunk[] = []
      const delta = object(choice['delta'])
      if (delta !== undefined) {
        const thought = string(delta['reasoning_content']) || string(delta['reasoning'])
        if (thought !== '') {
          reasoning ??= open('reasoning', out)
          reasoning.parts.push(thought)
          out.push({ type: 'reasoning-delta', index: reasoning.index, text: thought })
        }
        const said = string(delta['content'])
        if (said !== '') {
          text ??= open('text', out)
          text.parts.push(said)
          out.push({ type: 'text-delta', index: text.index, text: said })
        }
        for (const part of array(delta['tool_calls'])) {
          const call = object(part)
          if (call !== undefined) acceptCall(call, out)
        }
      }
      finishReason = string(choice['finish_reason']) || finishReason
      return out
    },
    finish() {
      const used = new Set<string>()
      const out: StreamChunk[] = blocks.map((block) => ({
        type: 'block-end',
        index: block.index,
        block: closed(block, used),
      }))
      if (usage !== undefined) out.push({ type: 'usage', usage })
      out.push({ type: 'finish', reason: reasonOf(finishReason, blocks.length) })
      return out
    },
    get finished() {
      return finishReason !== undefined
    },
  }
}

export function malformed(payload: string): Error {
  return llmError(LlmCode.MALFORMED_RESPONSE, `malformed SSE payload: ${payload.slice(0, 120)}`)
}

/** Two calls of one message never share an id: results could not be told apart. */
function closed(block: OpenBlock, used: Set<string>): ContentBlock {
  const text = block.parts.join('')
  if (block.kind !== 'tool-call') return { type: block.kind, text }
  let id = block.id || `call-${block.index}`
  if (used.has(id)) id = `${id}-${block.index}`
  used.add(id)
  return { type: 'tool-call', id, name: block.name, arguments: text }
}

function reasonOf(reason: string | undefined, blocks: number): FinishReason {
  if (reason === 'length') return { kind: 'max-tokens' }
  if (reason !== undefined && reason !== 'stop' && reason !== 'tool_calls')
    return { kind: 'error', failure: { message: `model stopped: ${reason}`, code: reason.toUpperCase() } }
  if (blocks === 0)
    return {
      kind: 'error',
      failure: { message: 'model returned a completed response with no content', code: LlmCode.EMPTY_RESPONSE },
    }
  return { kind: reason === 'tool_calls' ? 'tool-calls' : 'stop' }
}

/** Disjoint counts: what the cache answered is not among the input tokens. */
function readUsage(wire: Json): TokenUsage | undefined {
  const prompt = count(wire['prompt_tokens'])
  const completion = count(wire['completion_tokens'])
  if (prompt === undefined && completion === undefined) return undefined
  const cached =
    count(object(wire['prompt_tokens_details'])?.['cached_tokens']) ?? count(wire['prompt_cache_hit_tokens'])
  const reasoning = count(object(wire['completion_tokens_details'])?.['reasoning_tokens'])
  return {
    inputTokens: Math.max(0, (prompt ?? 0) - (cached ?? 0)),
    outputTokens: completion ?? 0,
    ...(cached === undefined ? {} : { cacheReadTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  }
}

function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}
function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
