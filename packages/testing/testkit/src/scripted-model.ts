import type { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import { chunksOf, type Reply } from '@dsh/replay'

export function say(text: string): Reply {
  return { text }
}

export function call(name: string, args: unknown, id?: string): Reply {
  return { calls: [{ name, args, ...(id === undefined ? {} : { id }) }] }
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
