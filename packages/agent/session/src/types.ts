import type {
  AdapterDefaults,
  AssistantMessage,
  ContentBlock,
  LlmCallConfig,
  LlmFailure,
  Message,
  ResolvedCallConfig,
  StreamChunk,
  TokenUsage,
  ToolSchema,
  UserMessage,
} from '@dsh/llm'

/** The first line of a log. Key order on disk is this order. */
export interface SessionHeader {
  readonly type: 'session'
  readonly version: 0
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Absolute; the permission root of the session. Never changes. */
  readonly cwd?: string
  readonly parentSession?: string
  /** Number of leading events inherited from the parent. */
  readonly seedLength?: number
  readonly origin?: 'subagent'
  readonly delegationDepth: number
  readonly agentPreset?: string
}

export type AbortCause =
  | { readonly kind: 'user' | 'parent' | 'disposed' | 'legacy' }
  | { readonly kind: 'hook'; readonly reason: string }

export type TurnEndReason =
  | { readonly kind: 'completed' | 'blocked' | 'max-tokens' | 'interrupted' }
  | { readonly kind: 'aborted'; readonly reason: AbortCause }
  | { readonly kind: 'error'; readonly error: LlmFailure }

export interface RequestHeader {
  readonly config: ResolvedCallConfig
  readonly adapterDefaults?: AdapterDefaults
  readonly system?: string
  readonly tools?: readonly ToolSchema[]
}

export type InboxTarget = 'next-turn' | 'next-step'

/**
 * Event types and their data. A package that writes an event of its own adds it here by declaration merging;
 * a type the reference does not know is written with `ignorable: true`.
 */
export interface SessionEventMap {
  'session/end-seed': Record<string, never>
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  'step/start': { readonly turn: number; readonly step: number }
  'step/end': { readonly turn: number; readonly step: number }
  'user/message': UserMessage
  'assistant/message': {
    readonly turn: number
    readonly step: number
    readonly message: AssistantMessage
    readonly usage?: TokenUsage
    readonly interrupted?: true
  }
  'tool/result': {
    readonly turn: number
    readonly step: number
    /** Exactly one tool-result block. */
    readonly message: UserMessage
    readonly error?: { readonly name: string; readonly code: string }
    readonly meta?: unknown
  }
  'request/header': { readonly header: RequestHeader; readonly reason: 'initial' | 'resume' | 'change' }
  'request/context': { readonly provider: string; readonly model: string; readonly contextWindow?: number }
  /** Ours, ignorable: what the guard verified before the request left. */
  'request/digest': {
    readonly count: number
    readonly generation: number
    readonly digest: string
    readonly headerDigest: string
  }
  'assistant/chunk': { readonly turn: number; readonly step: number; readonly chunk: StreamChunk }
  'llm/retry': {
    readonly retryId: string
    readonly turn: number
    readonly step: number
    readonly provider: string
    readonly mode: 'normal' | 'always'
    readonly policyKey: string
    readonly retry: number
    readonly maxRetries?: number
    readonly delayMs: number
    readonly failure: LlmFailure
  }
  'llm/retry-started': {
    readonly retryId: string
    readonly turn: number
    readonly step: number
    readonly retry: number
  }
  'tool/call': {
    readonly turn: number
    readonly step: number
    readonly callId: string
    readonly name: string
    /** The raw string. */
    readonly arguments: string
  }
  'todo/write': {
    readonly todos: readonly { readonly content: string; readonly status: 'pending' | 'in_progress' | 'completed' }[]
  }
  'agent/inbox/spliced': {
    readonly target: InboxTarget
    readonly start: number
    readonly removedCount?: number
    readonly inserted: readonly UserMessage[]
    readonly outcome?: 'canceled'
  }
  'permission/preset': { readonly preset: string }
  'sandbox/mode': { readonly mode: string; readonly source?: 'delegation' }
  'approval/policy': { readonly policy: 'ask' | 'never'; readonly source?: 'delegation' }
  'approval/asked': {
    readonly id: string
    readonly toolName: string
    readonly callId?: string
    readonly reason?: string
  }
  'approval/decided': {
    readonly id: string
    readonly outcome: 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'
  }
  'compaction/start': { readonly compactionId: string; readonly sourceCommandId?: string; readonly turn: number | null }
  'compaction/summary': {
    readonly compactionId: string
    readonly sourceCommandId?: string
    readonly summary: readonly ContentBlock[]
    readonly rawOutput?: readonly ContentBlock[]
    readonly llmStreamCall?: true
    readonly shadowedRange: { readonly start: number; readonly end: number }
    readonly shadowedSeqs: readonly number[]
    readonly shadowedTokenCount: number
    readonly provider: string
    readonly model: string
    readonly maxTokens?: number
    readonly usage?: TokenUsage
  }
  'compaction/prune': {
    readonly shadowedRange: { readonly start: number; readonly end: number }
    readonly shadowedSeqs: readonly number[]
    readonly shadowedTokenCount: number
  }
  'compaction/end': {
    readonly compactionId: string
    readonly sourceCommandId?: string
    readonly turn: number | null
    readonly error?: string
  }
  'session/title': {
    readonly title: string
    readonly messageSeqs: readonly number[]
    readonly source: { readonly kind: string }
  }
  'command/run': { readonly commandId: string; readonly name: string; readonly args?: string; readonly source: unknown }
  'command/done': {
    readonly commandId: string
    readonly kind: 'success' | 'error'
    readonly text?: string
    readonly sourceEventSeq?: number
  }
  /** Ours, ignorable: the session's current directory moved. */
  'session/cwd': { readonly cwd: string }
  /** Ours, ignorable: which limit ended the turn. */
  'turn/limit': { readonly turn: number; readonly limit: string; readonly value: number; readonly max: number }
}
export type SessionEventType = keyof SessionEventMap & string

/** `append` puts the message at the end; `replace` puts it in the place of the surface nodes start…end (seqs, inclusive). */
export type SurfaceOp = 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number }

export interface AppendMarker {
  readonly surfaceOp?: SurfaceOp
  readonly sourceEventSeqs?: readonly number[]
  readonly ignorable?: true
}

/** Live key order: type, seq, time, data, sourceEventSeqs, surfaceOp, ignorable. Deep-frozen. */
export interface SessionEventOf<T extends SessionEventType> extends AppendMarker {
  readonly type: T
  readonly seq: number
  readonly time: number
  readonly data: SessionEventMap[T]
}
export type SessionEvent = { [T in SessionEventType]: SessionEventOf<T> }[SessionEventType]

/** The hash chain over the model-visible messages (see docs/log-format.md). */
export interface SurfaceDigest {
  /** Counts replacements; a higher generation means the prefix was rewritten. */
  readonly generation: number
  /** Number of model-visible messages. */
  readonly count: number
  /** Hex digest of the whole chain. */
  readonly digest: string
}

/** An incremental reduction of the log: `apply` runs once per event, in order, over the seed and then live. */
export interface Fold<S> {
  readonly initial: (header: SessionHeader) => S
  readonly apply: (state: S, event: SessionEvent) => S
}

export interface Session {
  readonly id: string
  readonly header: SessionHeader
  /** A live read-only view: indexable, iterable, never copied. */
  readonly events: readonly SessionEvent[]
  /** Number of seeded events; 0 for a new session. */
  readonly firstLiveSeq: number
  /** The current directory: the last `session/cwd`, else the header's. */
  readonly cwd: string | undefined
  /** Seqs of the surface nodes, in model order. */
  readonly surface: readonly number[]
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], marker?: AppendMarker): SessionEventOf<T>
  /** What the model sees: frozen message objects, identity shared with the log. */
  deriveMessages(): readonly Message[]
  surfaceDigest(): SurfaceDigest
  /** The last request header in the log. */
  readonly requestHeader: RequestHeader | undefined
  /** Starts (once per fold object) and reads an incremental fold. */
  fold<S>(fold: Fold<S>): S
  /** The open turn, if any. */
  readonly openTurn: number | undefined
}

export interface CreateSessionOptions {
  readonly id?: string
  readonly cwd?: string
  readonly parentSession?: string
  readonly origin?: 'subagent'
  readonly delegationDepth?: number
  readonly agentPreset?: string
  readonly createdAt?: number
  /** Events to restore; validated as a log is, then closed by `session/end-seed`. */
  readonly seed?: readonly SessionEvent[]
  /** Inherited events of a fork. */
  readonly seedLength?: number
  /** Keep the log off the disk. */
  readonly ephemeral?: boolean
}

/** `ctx.sessions` */
export interface SessionsService {
  /** Throws on a duplicate live id or an invalid seed. Emits `session/created` synchronously. */
  create(options?: CreateSessionOptions): Session
  get(id: string): Session | undefined
  list(): readonly Session[]
  /** Ends the live session; its log stays on disk. */
  dispose(id: string): Promise<void>
  isEphemeral(id: string): boolean
}

export interface StoredSession {
  readonly header: SessionHeader
  readonly path: string
  readonly updatedAt: number
  readonly bytes: number
  readonly title?: string
  /** The start of the first prompt. */
  readonly prompt?: string
  /** `damaged: …` or `cannot be read: …`; such a log never hides the others. */
  readonly problem?: string
}

/** `ctx.sessionPersistence` */
export interface SessionPersistence {
  /**
   * A barrier: everything appended before the call is on disk (fsync) when it resolves, or it rejects. A session that
   * holds nothing but what rows pin at its start gets no log.
   */
  flush(session: Session): Promise<void>
  /** Reads, repairs (interrupted-turn closers), takes the writer lock and seeds a live session. */
  resume(id: string): Promise<Session>
  /** A new session seeded with the events up to `boundary` (inclusive seq; default: the last one). */
  fork(sourceId: string, options?: { readonly boundary?: number; readonly id?: string }): Promise<Session>
  /** Read-only: validates and expands, repairs nothing. */
  inspect(
    id: string,
  ): Promise<{ readonly header: SessionHeader; readonly events: readonly SessionEvent[]; readonly problem?: string }>
  /** Newest first; with `cwd` only the sessions of that directory. */
  list(filter?: { readonly cwd?: string }): Promise<readonly StoredSession[]>
  /** The file a session's log has, or will have. */
  locate(id: string): Promise<string | undefined>
  pathOf(header: SessionHeader): string
  delete(id: string): Promise<void>
}

export type { LlmCallConfig }
