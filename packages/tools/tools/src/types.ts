import type { Agent } from '@dsh/agent'
import type { ContentBlock, ToolSchema, UserMessage } from '@dsh/llm'

/** The enforced subset of JSON Schema; anything else is refused at registration (UNSUPPORTED_SCHEMA). */
export interface JsonSchema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
  readonly oneOf?: readonly JsonSchema[]
  readonly properties?: { readonly [key: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly items?: JsonSchema
  readonly enum?: readonly (string | number | boolean | null)[]
  readonly const?: string | number | boolean | null
  readonly description?: string
  readonly title?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
}

export interface ToolExecution {
  readonly callId: string
  readonly rootCallId: string
  readonly name: string
  /** Parsed and deep-frozen; the raw string when it was no JSON. */
  readonly arguments: any
  readonly agent?: Agent
  readonly turn?: number
  readonly step?: number
  /** The enclosing transport call of a nested one. */
  readonly parent?: object
  readonly signal: AbortSignal
  /** Delivered to the model after this call's result. */
  deferContext(message: UserMessage): void
  /** A successful result then ends the turn after the batch. */
  concludeTurn(): void
}

export interface ToolDefinition<A = any, V = any> {
  readonly name: string
  /** Sent unchanged. */
  readonly description: string
  /** Sent unchanged; the root is an open object. */
  readonly parameters: JsonSchema
  readonly output: {
    readonly schema: JsonSchema
    readonly render: (args: A, value: V) => readonly ContentBlock[]
    /** Facts for surfaces, logged as `meta`; never sent to the model. */
    readonly presentationMeta?: (args: A, value: V) => unknown
  }
  /** Gives a JSON value, never content blocks. A throw becomes `Error: <message>`. */
  execute(args: A, exec: ToolExecution): Promise<V>
  /** Runs once on every outcome, may change only the content. */
  readonly finalizeContent?: (exec: ToolExecution, result: ToolResult) => readonly ContentBlock[] | undefined
  readonly timeoutMs?: number
  /** Only exactly `true` lets the call overlap others. */
  readonly isConcurrencySafe?: (args: A) => boolean
  /** Optional scalars given as `null` count as absent; `false` when the tool names an error for them itself. */
  readonly nullIsAbsent?: boolean
}

export interface ToolResult {
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
  readonly value?: unknown
  readonly error?: { readonly name: string; readonly code: string }
  readonly meta?: unknown
  readonly additionalContexts?: readonly UserMessage[]
  readonly concludesTurn?: boolean
}

export type PreExecuteDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string }

export type PostExecuteDecision =
  | {
      readonly kind: 'accept'
      readonly content?: readonly ContentBlock[]
      readonly value?: unknown
      readonly contexts?: readonly UserMessage[]
    }
  | { readonly kind: 'block'; readonly feedback: readonly ContentBlock[]; readonly contexts?: readonly UserMessage[] }

export interface ToolCallInput {
  readonly callId: string
  readonly name: string
  /** The raw string as streamed. */
  readonly arguments: string
  readonly agent?: Agent
  readonly turn?: number
  readonly step?: number
  readonly signal: AbortSignal
  readonly parent?: object
}

/** A call whose policy stages ran, in model order. */
export interface AdmittedCall {
  /** The execute wrappers and the body; overlaps with other calls. Never rejects. */
  run(): Promise<void>
  /** After `run`, again in model order: post-execute, finalize, the frozen result. Never rejects. */
  finish(): Promise<ToolResult>
}

/** `ctx.tools` */
export interface ToolsService {
  register<A, V>(definition: ToolDefinition<A, V>): () => void
  /** Through an agent's context only: narrows the tools it inherits. */
  restrict(mask: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }): () => void
  /** A string denies the call with it as the reason; undefined abstains. */
  guard(check: (exec: ToolExecution) => string | undefined): () => void
  get(name: string, agent?: Agent): ToolDefinition | undefined
  /** Visible tools in stable order (code units of the name). */
  schemas(agent?: Agent): readonly ToolSchema[]
  executionMode(input: Pick<ToolCallInput, 'name' | 'arguments' | 'agent'>): 'parallel' | 'exclusive'
  /** Pre-execute, approval and guards. Never rejects: what they refuse is the result. */
  admit(input: ToolCallInput): Promise<AdmittedCall>
  /** `admit`, `run` and `finish` in one. Never rejects: every failure is a result. */
  execute(input: ToolCallInput): Promise<ToolResult>
}
