import type { Context } from '@dsh/cordis'
import type { ContentBlock, FinishReason, GenerateOptions, LlmFailure, StreamChunk, TokenUsage } from '@dsh/llm'

/** What a scripted model answers to one request. */
export interface Reply {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  readonly usage?: TokenUsage
  /** Default: `tool-calls` when there are calls, else `stop`. */
  readonly finish?: FinishReason['kind']
  /** Ends the stream with this failure instead. */
  readonly failure?: LlmFailure
}
export interface ScriptedCall {
  readonly name: string
  readonly args: unknown
  readonly id?: string
}

const usage: TokenUsage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 900 }

export function say(text: string): Reply {
  return { text }
}

export function call(name: string, args: unknown, id?: string): Reply {
  return { calls: [{ name, args, ...(id === undefined ? {} : { id }) }] }
}

/** The chunks of one reply, each block in one or two deltas. `number` makes call ids unique. */
export function chunksOf(reply: Reply, number: number): StreamChunk[] {
  const chunks: StreamChunk[] = []
  let index = 0
  const block = (blockType: 'text' | 'reasoning' | 'tool-call', deltas: StreamChunk[], end: ContentBlock) => {
    chunks.push({ type: 'block-start', index, blockType }, ...deltas, { type: 'block-end', index, block: end })
    index++
  }
  for (const type of ['reasoning', 'text'] as const) {
    const text = reply[type]
    if (text === undefined) continue
    block(
      type,
      pieces(text).map((piece) => ({ type: `${type}-delta`, index, text: piece })),
      { type, text },
    )
  }
  for (const [at, { name, args, id = `call_${number}_${at}` }] of (reply.calls ?? []).entries()) {
    const raw = typeof args === 'string' ? args : JSON.stringify(args)
    const [first = '', ...rest] = pieces(raw)
    const deltas: StreamChunk[] = [
      { type: 'tool-call-delta', index, id, name, argumentsDelta: first },
      ...rest.map((piece): StreamChunk => ({ type: 'tool-call-delta', index, id, name, argumentsDelta: piece })),
    ]
    block('tool-call', deltas, { type: 'tool-call', id, name, arguments: raw })
  }
  if (reply.failure === undefined) chunks.push({ type: 'usage', usage: reply.usage ?? usage })
  chunks.push({ type: 'finish', reason: reasonOf(reply) })
  return chunks
}

function reasonOf(reply: Reply): FinishReason {
  if (reply.failure !== undefined) return { kind: 'error', failure: reply.failure }
  return { kind: reply.finish ?? (reply.calls === undefined ? 'stop' : 'tool-calls') } as FinishReason
}

/** As a model streams: word by word, so that runs of deltas are real ones. */
function pieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]
}

export interface ScriptedModel {
  /** A row that serves every provider route. */
  readonly row: { readonly name: string; readonly inject: readonly string[]; apply(ctx: Context): Promise<void> }
  /** Every request so far, as it reached the adapter. */
  readonly requests: GenerateOptions[]
}

/** A model that says these things in order; a reply may be made from the request. */
export function scriptedModel(replies: readonly (Reply | ((request: GenerateOptions) => Reply))[]): ScriptedModel {
  const requests: GenerateOptions[] = []
  const model = { context: { contextWindow: 1_000_000 }, defaultMaxTokens: 256_000 }
  return {
    requests,
    row: {
      name: 'scripted-model',
      inject: ['llm'],
      apply: async (ctx) => {
        ctx.llm.register({
          route: '*',
          providerInfo: () => ({ id: 'scripted', name: 'scripted' }),
          resolveModel: (id, provider) => ({ provider, id, name: id, ...model }),
          stream: (request) => answer(request),
        })
      },
    },
  }

  async function* answer(request: GenerateOptions): AsyncGenerator<StreamChunk> {
    requests.push(request)
    const next = replies[requests.length - 1]
    if (next === undefined) throw new Error(`the script has ${replies.length} replies, request ${requests.length} came`)
    for (const chunk of chunksOf(typeof next === 'function' ? next(request) : next, requests.length)) {
      request.signal?.throwIfAborted()
      yield chunk
    }
  }
}

/** The text of the last tool result that a request carries. */
export function lastToolText(request: GenerateOptions): string {
  const blocks = request.messages.flatMap((message) => message.content)
  const result = blocks.findLast((block) => block.type === 'tool-result')
  if (result?.type !== 'tool-result') return ''
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
