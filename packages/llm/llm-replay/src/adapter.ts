import {
  type GenerateOptions,
  type LlmAdapter,
  type ResolvedModel,
  resolveRetryPolicy,
  type StreamChunk,
} from '@dsh/llm'
import type { Bindings } from './binding.ts'
import type { ReplayProvider } from './config.ts'
import { play, titleChunks } from './player.ts'

export interface ReplayParts {
  readonly bindings: Bindings
  readonly paceMs: number
  /** Whether the session is some other's child; undefined when it is not known. */
  readonly isChild: (sessionId: string | undefined) => boolean | undefined
}

/** One adapter for each route of the recording; without a list one for all of them, whose throws stay throws. */
export function replayAdapters(parts: ReplayParts, providers: readonly ReplayProvider[] | undefined): LlmAdapter[] {
  const stream = (options: GenerateOptions) => replayCall(parts, options)
  if (providers !== undefined) return providers.map((provider) => providerAdapter(provider, stream))
  return [
    {
      route: '*',
      rawErrors: true,
      providerInfo: () => ({ id: '*', name: 'Replay' }),
      resolveModel: (id, provider) => ({ provider, id, name: id }),
      stream,
    },
  ]
}

/** Not a generator: the cursor moves when the call is made, not when its first chunk is asked for. */
function replayCall(parts: ReplayParts, options: GenerateOptions): AsyncIterable<StreamChunk> {
  const isChild = parts.isChild(options.sessionId)
  if (options.purpose === 'session-title') {
    const title = parts.bindings.title(options, isChild)
    if (title === undefined) throw new Error('llm-replay: the recording holds no title that a model wrote')
    return play({ kind: 'chunks', chunks: titleChunks(title) }, options, 0)
  }
  return play(parts.bindings.take(options, isChild), options, parts.paceMs)
}

function providerAdapter(provider: ReplayProvider, stream: LlmAdapter['stream']): LlmAdapter {
  const name = provider.name ?? provider.id
  const describe = (model: ReplayProvider['models'][number]): ResolvedModel => {
    const efforts = model.reasoningEfforts?.map((effort) =>
      typeof effort === 'string' ? { id: effort, name: effort } : effort,
    )
    return {
      provider: provider.id,
      id: model.id,
      name: model.name ?? model.id,
      ...(model.description === undefined ? {} : { description: model.description }),
      ...(model.inputModalities === undefined ? {} : { inputModalities: model.inputModalities }),
      ...(model.contextWindow === undefined ? {} : { context: { contextWindow: model.contextWindow } }),
      ...(model.defaultMaxTokens === undefined ? {} : { defaultMaxTokens: model.defaultMaxTokens }),
      ...(efforts === undefined
        ? {}
        : {
            reasoning: {
              efforts,
              ...(model.defaultReasoningEffort === undefined ? {} : { defaultEffort: model.defaultReasoningEffort }),
            },
          }),
    }
  }
  return {
    route: provider.id,
    providerInfo: () => ({ id: provider.id, name }),
    ...(provider.retryPolicy === undefined ? {} : { retryPolicy: () => resolveRetryPolicy(provider.retryPolicy) }),
    listModels: () => provider.models.map(describe),
    resolveModel: (id) => describe(provider.models.find((model) => model.id === id) ?? { id }),
    stream,
  }
}
