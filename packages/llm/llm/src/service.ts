import { type Context, Service } from '@dsh/cordis'
import { errorCode } from '@dsh/core'
import { callAdapter, lazily } from './edge.ts'
import { LlmCode, llmError } from './errors.ts'
import { checkModel, fillDefaults } from './prepare.ts'
import type {
  GenerateOptions,
  LlmAdapter,
  LlmCallConfig,
  LlmService,
  ModelInfo,
  PreparedCall,
  ResolvedModel,
  RetryPolicy,
  StreamChunk,
} from './types.ts'

/** The route of an adapter that serves every model call, whatever provider was asked for. */
const EVERY_ROUTE = '*'

type Guard = (options: GenerateOptions) => void

/**
 * The registry of adapters and the one way to a model. A row that registers `*` serves the calls of every route, while
 * the facts about models still come from the adapter that owns the route.
 */
export class Llm extends Service implements LlmService {
  private readonly adapters = new Map<string, LlmAdapter>()
  private readonly guards: Guard[] = []
  private readonly home: Context

  constructor(ctx: Context) {
    super(ctx, 'llm')
    this.home = ctx
  }

  register(adapter: LlmAdapter): () => void {
    if (typeof adapter.route !== 'string' || adapter.route === '' || typeof adapter.stream !== 'function')
      throw llmError(LlmCode.INVALID_ADAPTER, 'a model adapter needs a route and a stream function')
    return this.ctx.effect(() => {
      if (this.adapters.has(adapter.route))
        throw llmError(LlmCode.DUPLICATE_ADAPTER, `an adapter for provider "${adapter.route}" is already registered`)
      this.adapters.set(adapter.route, adapter)
      return () => {
        if (this.adapters.get(adapter.route) === adapter) this.adapters.delete(adapter.route)
      }
    }, `llm adapter ${adapter.route}`)
  }

  guard(check: Guard): () => void {
    return this.ctx.effect(() => {
      this.guards.push(check)
      return () => void this.guards.splice(this.guards.indexOf(check), 1)
    }, 'llm guard')
  }

  async prepareCall(config: LlmCallConfig): Promise<PreparedCall> {
    const { provider, model } = config
    if (provider === undefined || model === undefined)
      throw llmError(LlmCode.INVALID_REQUEST, 'a model call needs a provider and a model')
    const facts = this.factsFor(provider)
    const resolved = checkModel(await facts.resolveModel(model, provider))
    const filled = fillDefaults({ ...config, provider, model }, resolved, facts.route === EVERY_ROUTE)
    const retryPolicy = facts.retryPolicy?.()
    return {
      ...filled,
      model: resolved,
      ...(retryPolicy === undefined ? {} : { retryPolicy }),
      stream: (options) => this.open(options, facts),
    }
  }

  stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    return lazily(() => this.prepareAndOpen(options))
  }

  async resolveModel(provider: string, model: string): Promise<ResolvedModel> {
    return checkModel(await this.factsFor(provider).resolveModel(model, provider))
  }

  retryPolicy(provider: string): RetryPolicy | undefined {
    return this.lookUp(provider)?.retryPolicy?.()
  }

  providers(): readonly { readonly id: string; readonly name: string }[] {
    return [...this.adapters.values()].filter(({ route }) => route !== EVERY_ROUTE).map((a) => a.providerInfo())
  }

  async listModels(provider?: string): Promise<readonly ModelInfo[]> {
    const asked = provider === undefined ? [...this.adapters.values()] : [this.factsFor(provider)]
    const lists = await Promise.all(asked.map((adapter) => adapter.listModels?.() ?? []))
    return lists.flat()
  }

  warm(): void {
    if (this.adapters.has(EVERY_ROUTE)) return
    for (const adapter of this.adapters.values()) adapter.warm?.()
  }

  private async *prepareAndOpen(options: GenerateOptions): AsyncIterable<StreamChunk> {
    let config: LlmCallConfig = options
    try {
      config = (await this.prepareCall(options)).config
    } catch (error) {
      // A listener of `llm/stream` may serve a route that no adapter knows.
      if (errorCode(error) !== LlmCode.NO_ADAPTER) throw error
    }
    yield* this.open({ ...options, ...config })
  }

  /**
   * The listeners of `llm/stream` in order, then the guards, then the adapter. The options are a fresh object: what a
   * listener does to them the guards see, and the log's own objects stay as they are.
   */
  private open(asked: GenerateOptions, prepared?: LlmAdapter): AsyncIterable<StreamChunk> {
    return lazily(() => {
      const options = { ...asked }
      return this.home.waterfall('llm/stream', options, () => {
        // Whose request it is no listener decides: the guards go by it.
        Object.assign(options, identityOf(asked))
        for (const check of this.guards) check(options)
        Object.freeze(options)
        return callAdapter(this.serving(options.provider, prepared), options)
      })
    })
  }

  private lookUp(provider: string): LlmAdapter | undefined {
    return this.adapters.get(provider) ?? this.adapters.get(EVERY_ROUTE)
  }

  private factsFor(provider: string): LlmAdapter {
    const adapter = this.lookUp(provider)
    if (adapter === undefined) throw llmError(LlmCode.NO_ADAPTER, `no adapter registered for provider "${provider}"`)
    return adapter
  }

  private serving(provider: string, prepared: LlmAdapter | undefined): LlmAdapter {
    const everything = this.adapters.get(EVERY_ROUTE)
    if (everything !== undefined) return everything
    if (prepared !== undefined && this.adapters.get(prepared.route) !== prepared)
      throw llmError(LlmCode.REGISTRATION_DISPOSED, `the adapter of provider "${provider}" was unregistered`)
    return this.factsFor(provider)
  }
}

function identityOf({ sessionId, purpose }: GenerateOptions): Pick<GenerateOptions, 'sessionId' | 'purpose'> {
  return { sessionId, purpose }
}
