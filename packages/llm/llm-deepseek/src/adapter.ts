import type { GenerateOptions, ImageBlock, LlmAdapter, LlmFailure, ResolvedModel, StreamChunk } from '@dsh/llm'
import { failureOf, LlmCode, resolveRetryPolicy } from '@dsh/llm'
import { callServer } from './call.ts'
import type { Config } from './config.ts'
import { checkKey } from './credential.ts'
import { readOverflow } from './failures.ts'
import type { WireOptions } from './message-wire.ts'
import { createCatalogue } from './models.ts'
import { clampOutput, estimatePrompt, type PromptAnchor } from './output-clamp.ts'
import { createBodyBuilder } from './request-body.ts'
import type { Transport } from './transport.ts'

export interface AdapterParts {
  readonly config: Config
  readonly baseURL: string
  readonly userAgent: string
  /** Looks the key up anew for each request. */
  readonly key: (reference: string) => Promise<string | undefined>
  readonly image: (block: ImageBlock) => Promise<string>
  readonly transport: (url: URL) => Promise<Transport>
}

const MAX_ANCHORS = 64
/** A smaller number in an overflow message is no context window that an agent could work in. */
const SMALLEST_WINDOW = 1024

export function createAdapter(parts: AdapterParts): LlmAdapter {
  const { config } = parts
  const catalogue = createCatalogue(config)
  const buildBody = createBodyBuilder(config)
  const learned = new Map<string, number>()
  const anchors = new Map<string, PromptAnchor>()
  const retryPolicy = resolveRetryPolicy(config.retryPolicy)
  const reasoningField = config.reasoningField ?? (config.dialect === 'deepseek' ? 'reasoning_content' : 'none')

  const resolve = (id: string, provider: string): ResolvedModel => {
    const model = catalogue.resolve(id, provider)
    const window = learned.get(id)
    if (window === undefined || window >= (model.context?.contextWindow ?? Number.POSITIVE_INFINITY)) return model
    const output = model.defaultMaxTokens
    return {
      ...model,
      context: { contextWindow: window },
      ...(output === undefined ? {} : { defaultMaxTokens: Math.min(output, window) }),
    }
  }

  const remember = (sessionId: string | undefined, anchor: PromptAnchor): void => {
    if (sessionId === undefined) return
    anchors.delete(sessionId)
    anchors.set(sessionId, anchor)
    const oldest = anchors.keys().next().value
    if (anchors.size > MAX_ANCHORS && oldest !== undefined) anchors.delete(oldest)
  }

  async function headers(): Promise<Record<string, string>> {
    const reference = config.apiKeyEnv
    const key = reference === null ? undefined : checkKey(await parts.key(reference), reference, config.route)
    return {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'user-agent': parts.userAgent,
      ...config.headers,
    }
  }

  async function* stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    const model = resolve(options.model, options.provider)
    const wire: WireOptions = {
      image: model.inputModalities?.includes('image') ? parts.image : undefined,
      reasoningField,
      refuseImage: `${config.displayName} model "${options.model}" does not accept image input.`,
    }
    const sent = await headers()
    const body = await buildBody(options, wire)
    const transport = await parts.transport(new URL(parts.baseURL))
    const window = model.context?.contextWindow
    const estimate = estimatePrompt(body.promptLength, options.sessionId ? anchors.get(options.sessionId) : undefined)
    const plan = {
      displayName: config.displayName,
      baseURL: parts.baseURL,
      headers: sent,
      idleMs: config.streamIdleTimeoutMs,
      stallMs: config.streamStallTimeoutMs,
      maxResponseBytes: config.maxResponseBytes,
      requireDone: config.requireDone,
      signal: options.signal,
    }
    const run = (maxTokens: number | undefined) => callServer(transport, { ...plan, body: body.finish(maxTokens) })
    const note = (chunk: StreamChunk): void => {
      if (chunk.type !== 'usage' || options.purpose !== undefined) return
      const { inputTokens, cacheReadTokens = 0 } = chunk.usage
      remember(options.sessionId, { promptLength: body.promptLength, promptTokens: inputTokens + cacheReadTokens })
    }
    let maxTokens = clampOutput(options.maxTokens, window, estimate)
    for (let begun = false; ; ) {
      try {
        for await (const batch of run(maxTokens)) {
          begun = true
          for (const chunk of batch) {
            note(chunk)
            yield chunk
          }
        }
        return
      } catch (error) {
        const less = begun ? undefined : smallerOutput(options, failureOf(error), estimate)
        if (less === undefined || maxTokens === undefined || less >= maxTokens) throw error
        maxTokens = less
      }
    }
  }

  /** A server with a smaller window than we thought refuses the output cap, not the prompt: what to ask for instead. */
  function smallerOutput(options: GenerateOptions, failure: LlmFailure, estimate: number): number | undefined {
    if (failure.code !== LlmCode.CONTEXT_WINDOW_EXCEEDED) return undefined
    const { window, promptTokens, outputIsToBlame } = readOverflow(failure.message)
    if (window === undefined || window < SMALLEST_WINDOW) return undefined
    learned.set(options.model, window)
    return outputIsToBlame ? clampOutput(options.maxTokens, window, promptTokens ?? estimate) : undefined
  }

  return {
    route: config.route,
    providerInfo: () => ({ id: config.route, name: config.displayName }),
    retryPolicy: () => retryPolicy,
    listModels: () => catalogue.list(),
    resolveModel: resolve,
    stream,
    warm: () => {
      const url = new URL(parts.baseURL)
      parts.transport(url).then(
        (transport) => transport.warm?.(url),
        () => {},
      )
    },
  }
}
