/** The vocabulary of the model seam. Shapes and key orders are those of the session log (docs/log-format.md). */

export interface TextBlock {
  readonly type: 'text'
  readonly text: string
}
export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
}
/** Points into the attachment store; the bytes are never in the log. */
export interface AttachmentRef {
  readonly attachmentId: string
  readonly mediaType: string
  readonly bytes: number
  readonly width: number
  readonly height: number
  readonly name?: string
  readonly originalDimensions?: { readonly width: number; readonly height: number }
}
export interface ImageBlock {
  readonly type: 'image'
  readonly attachment: AttachmentRef
}
export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** The raw string exactly as streamed; may be no JSON at all. */
  readonly arguments: string
}
export interface ToolResultBlock {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
}
export type ContentBlock = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock | ToolResultBlock

export interface ModelSource {
  readonly kind: 'model'
  readonly provider: string
  readonly model: string
  readonly replayState?: ReplayState
}
export interface ToolSource {
  readonly kind: 'tool'
  readonly callId: string
}
/** `kind: 'user'` is a person's prompt; `kind: 'plugin'` is context a row injected. Further kinds carry their own fields. */
export interface OtherSource {
  readonly kind: string
  readonly [field: string]: unknown
}
export type MessageSource = ModelSource | ToolSource | OtherSource

export interface UserMessage {
  readonly content: readonly ContentBlock[]
  readonly source: ToolSource | OtherSource
  readonly role: 'user'
  readonly id: string
}
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly ContentBlock[]
  readonly source: ModelSource
  readonly id: string
}
export interface SystemMessage {
  readonly role: 'system'
  readonly content: readonly ContentBlock[]
  readonly source: OtherSource
  readonly id: string
}
export type Message = UserMessage | AssistantMessage | SystemMessage

/** Opaque provider data that travels with an assistant message; `blocks` aligns with its content blocks. */
export interface ReplayState {
  readonly response?: unknown
  readonly blocks?: readonly unknown[]
}

/** Token counts, disjoint: `inputTokens` are the uncached ones. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

export interface LlmFailure {
  readonly message: string
  readonly code: string
  readonly status?: number
  readonly providerRetryAfterMs?: number
  readonly requestId?: string
}

export type FinishReason =
  | { readonly kind: 'stop' }
  | { readonly kind: 'tool-calls' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'aborted'; readonly failure: LlmFailure }
  | { readonly kind: 'error'; readonly failure: LlmFailure }

export type StreamChunk =
  | { readonly type: 'block-start'; readonly index: number; readonly blockType: 'text' | 'reasoning' | 'tool-call' }
  | { readonly type: 'text-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly index: number; readonly text: string }
  | {
      readonly type: 'tool-call-delta'
      readonly index: number
      readonly id: string
      readonly name?: string
      readonly argumentsDelta: string
    }
  | { readonly type: 'block-end'; readonly index: number; readonly block: ContentBlock }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly replayState?: ReplayState }

export interface ToolSchema {
  readonly name: string
  readonly description: string
  readonly parameters: object
}

/** Key order is the log's: provider, model, maxTokens, reasoningEffort, temperature, stop. */
export interface LlmCallConfig {
  readonly provider?: string
  readonly model?: string
  readonly maxTokens?: number
  readonly reasoningEffort?: string
  readonly temperature?: number
  readonly stop?: readonly string[]
}
export interface ResolvedCallConfig extends LlmCallConfig {
  readonly provider: string
  readonly model: string
}
/** Marks config values that the adapter filled in, so that they are resolved anew rather than taken as a choice. */
export interface AdapterDefaults {
  readonly reasoningEffort?: true
  readonly maxTokens?: true
}

export type CallPurpose = 'compaction' | 'session-title'

export interface GenerateOptions extends ResolvedCallConfig {
  readonly messages: readonly Message[]
  readonly system?: string
  readonly tools?: readonly ToolSchema[]
  readonly sessionId?: string
  /** Absent on the loop's own requests. */
  readonly purpose?: CallPurpose
  readonly signal?: AbortSignal
}

export interface ModelInfo {
  readonly provider: string
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Absent = text only. */
  readonly inputModalities?: readonly string[]
}
export interface ResolvedModel extends ModelInfo {
  readonly context?: { readonly contextWindow: number }
  readonly defaultMaxTokens?: number
  readonly reasoning?: {
    readonly efforts: readonly { readonly id: string; readonly name: string }[]
    readonly defaultEffort?: string
  }
}

export type RetryPolicy =
  | {
      readonly mode: 'normal'
      readonly maxRetries: number
      readonly retryableCodes: readonly string[]
      readonly initialDelayMs: number
      readonly maxDelayMs: number
      readonly jitterRatio: number
      /** A longer Retry-After gives up; up to here it is honoured exactly. */
      readonly maxRetryAfterMs: number
    }
  | {
      readonly mode: 'always'
      readonly initialDelayMs: number
      readonly maxDelayMs: number
      readonly jitterRatio: number
    }

/** One provider route. Register it with `ctx.llm.register(adapter)`. */
export interface LlmAdapter {
  /**
   * The route id (`deepseek-official`), or `*` to serve the calls of every route (keyless replay): facts about a model
   * then still come from the adapter of its own route, where there is one.
   */
  readonly route: string
  providerInfo(): { readonly id: string; readonly name: string }
  retryPolicy?(): RetryPolicy | undefined
  listModels?(): readonly ModelInfo[] | Promise<readonly ModelInfo[]>
  /** Exact model; an unlisted id is passed through with the route's defaults. `provider` is the route asked for. */
  resolveModel(model: string, provider: string): ResolvedModel | Promise<ResolvedModel>
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>
  /** When true a throw reaches the caller as it is; otherwise it becomes a terminal `finish{error}` chunk. */
  readonly rawErrors?: boolean
  /** Opens the connection early, while rows still mount; best effort. */
  warm?(): void
}

export interface PreparedCall {
  readonly config: ResolvedCallConfig
  readonly adapterDefaults?: AdapterDefaults
  readonly model: ResolvedModel
  readonly retryPolicy?: RetryPolicy
  /** Runs the `llm/stream` waterfall, then the dispatch guards, then the adapter. */
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>
}

/** `ctx.llm` */
export interface LlmService {
  /** The registration ends with the calling row. */
  register(adapter: LlmAdapter): () => void
  /** Throws NO_ADAPTER, UNSUPPORTED_REASONING_EFFORT, INVALID_MODEL_*; fills the adapter's defaults. */
  prepareCall(config: LlmCallConfig): Promise<PreparedCall>
  /** `prepareCall` and `stream` in one, for side calls (titles, summaries). */
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>
  resolveModel(provider: string, model: string): Promise<ResolvedModel>
  /** The policy that the provider's adapter declares for failed requests. */
  retryPolicy(provider: string): RetryPolicy | undefined
  providers(): readonly { readonly id: string; readonly name: string }[]
  listModels(provider?: string): Promise<readonly ModelInfo[]>
  /**
   * Runs at the adapter's edge, behind every `llm/stream` listener, just before the adapter is asked.
   * A throw ends the call there: no request leaves, and the throw is not turned into a chunk.
   */
  guard(check: (options: GenerateOptions) => void): () => void
  warm(): void
}
