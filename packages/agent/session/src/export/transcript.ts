import type { ContentBlock, TokenUsage, UserMessage } from '@dsh/llm'
import type { SessionEvent, SessionHeader } from '../types.ts'

export interface ToolUse {
  readonly callId: string
  readonly name: string
  /** The raw string of the model. */
  readonly arguments: string
  readonly result?: string
  readonly isError?: boolean
}

/** One thing that a person would say happened. */
export type Entry =
  | { readonly kind: 'prompt'; readonly seq: number; readonly time: number; readonly text: string }
  /** Text that a row put before the model. */
  | {
      readonly kind: 'context'
      readonly seq: number
      readonly time: number
      readonly from: string
      readonly text: string
    }
  | {
      readonly kind: 'answer'
      readonly seq: number
      readonly time: number
      readonly model: string
      readonly reasoning: string
      readonly text: string
      readonly tools: readonly ToolUse[]
      readonly interrupted: boolean
    }
  | { readonly kind: 'note'; readonly seq: number; readonly time: number; readonly text: string }

export interface Transcript {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly createdAt: number
  readonly parent?: string
  readonly models: readonly string[]
  readonly turns: number
  readonly usage: TokenUsage
  readonly entries: readonly Entry[]
}

/** The whole history, with what compaction later took out of the model's sight. */
export function transcriptOf(header: SessionHeader, events: readonly SessionEvent[]): Transcript {
  const results = resultsByCall(events)
  const entries: Entry[] = []
  const models = new Set<string>()
  let title: string | undefined
  let turns = 0
  let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 }
  for (const event of events) {
    const { seq, time } = event
    if (event.type === 'session/title') title = event.data.title
    else if (event.type === 'turn/start') turns++
    else if (event.type === 'user/message' && event.surfaceOp === 'append') {
      const text = textOf(event.data.content)
      const { kind } = event.data.source
      if (kind === 'user') entries.push({ kind: 'prompt', seq, time, text })
      else entries.push({ kind: 'context', seq, time, from: sourceName(event.data.source), text })
    } else if (event.type === 'assistant/message') {
      const { message } = event.data
      models.add(message.source.model)
      usage = addUsage(usage, event.data.usage)
      entries.push({
        kind: 'answer',
        seq,
        time,
        model: message.source.model,
        reasoning: textOf(message.content, 'reasoning'),
        text: textOf(message.content),
        tools: message.content.flatMap((block) => (block.type === 'tool-call' ? [toolUse(block, results)] : [])),
        interrupted: event.data.interrupted === true,
      })
    } else {
      const text = noteOf(event)
      if (text !== undefined) entries.push({ kind: 'note', seq, time, text })
    }
  }
  return {
    id: header.id,
    ...(title === undefined ? {} : { title }),
    ...(header.cwd === undefined ? {} : { cwd: header.cwd }),
    createdAt: header.createdAt,
    ...(header.parentSession === undefined ? {} : { parent: header.parentSession }),
    models: [...models],
    turns,
    usage,
    entries,
  }
}

interface Result {
  readonly text: string
  readonly isError: boolean
}

/** First results only: a later one that replaces it is the shortened form. Call ids may repeat across turns. */
function resultsByCall(events: readonly SessionEvent[]): Map<string, Result[]> {
  const results = new Map<string, Result[]>()
  for (const event of events) {
    if (event.type !== 'tool/result' || event.surfaceOp !== 'append') continue
    const block = event.data.message.content[0]
    if (block?.type !== 'tool-result') continue
    const list = results.get(block.toolCallId) ?? []
    list.push({ text: textOf(block.content), isError: block.isError })
    results.set(block.toolCallId, list)
  }
  return results
}

function toolUse(block: Extract<ContentBlock, { type: 'tool-call' }>, results: Map<string, Result[]>): ToolUse {
  const result = results.get(block.id)?.shift()
  return {
    callId: block.id,
    name: block.name,
    arguments: block.arguments,
    ...(result === undefined ? {} : { result: result.text, isError: result.isError }),
  }
}

export function textOf(content: readonly ContentBlock[], type: 'text' | 'reasoning' = 'text'): string {
  return content
    .map((block) => {
      if (block.type === 'image')
        return type === 'text' ? `[image ${block.attachment.name ?? block.attachment.mediaType}]` : ''
      return block.type === type ? block.text : ''
    })
    .filter((text) => text !== '')
    .join('\n')
}

function sourceName(source: UserMessage['source']): string {
  const { kind, plugin } = source as { kind: string; plugin?: unknown }
  return typeof plugin === 'string' ? plugin : kind
}

function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  if (more === undefined) return sum
  const cacheReadTokens = (sum.cacheReadTokens ?? 0) + (more.cacheReadTokens ?? 0)
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...(cacheReadTokens === 0 ? {} : { cacheReadTokens }),
  }
}

function noteOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'turn/end': {
      const { reason } = event.data
      if (reason.kind === 'completed') return undefined
      if (reason.kind === 'error') return `turn ended: ${reason.error.code}: ${reason.error.message}`
      if (reason.kind === 'aborted') {
        const why = reason.reason.kind === 'hook' ? reason.reason.reason : `by ${reason.reason.kind}`
        return `turn aborted: ${why}`
      }
      return `turn ended: ${reason.kind}`
    }
    case 'compaction/summary':
      return 'earlier messages were summarised for the model'
    case 'llm/retry':
      return `request failed (${event.data.failure.code}), asked again`
    default:
      return undefined
  }
}
