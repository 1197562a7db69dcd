import type { SandboxMode, SandboxPolicy } from '@dsh/sandbox'

/** The same file through any alias has the same key. Opaque: compare, never parse. */
export type FsTargetKey = string & { readonly __key?: 'FsTargetKey' }
/** Freshness token: differs when the file may have changed. Opaque. */
export type FsVersion = string & { readonly __version?: 'FsVersion' }

export interface FsTarget {
  readonly targetKey: FsTargetKey
  /** The spelling for messages: absolute, lexically normal. */
  readonly displayPath: string
}
export interface FsInfo {
  readonly version: FsVersion
  readonly type: 'file' | 'directory' | 'other'
  /** Bytes; absent when unknown. */
  readonly size?: number
  /** Number of hard links, where the backend knows. */
  readonly links?: number
}
export interface FsPathInfo extends Omit<FsInfo, 'type'> {
  readonly type: 'file' | 'directory' | 'other' | 'symlink'
}
export interface FsDirEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'other' | 'symlink'
  readonly target: FsTarget
  readonly version?: FsVersion
  /** Regular files only. */
  readonly size?: number
}
export type FsObservation = { readonly kind: 'present'; readonly version: FsVersion } | { readonly kind: 'absent' }
/** Absent = unconditional. */
export type FsWriteIntent =
  | { readonly kind: 'createIfAbsent' }
  | { readonly kind: 'replaceIfVersion'; readonly version: FsVersion }
export interface FsWriteOutcome {
  readonly operation: 'create' | 'update'
  readonly version: FsVersion
  /** LF-normalised; null on create or when no bounded basis exists. */
  readonly before: string | null
  readonly after: string
  readonly bytes?: FsChangedBytes
  /** Names of the replaced file, when it had more than one: the others keep the old content. */
  readonly links?: number
}
/** What was on disk before and after a change, byte for byte; absent where it is over the backend's bound. */
export interface FsChangedBytes {
  /** Absent on create. */
  readonly before?: Uint8Array
  readonly after?: Uint8Array
}
export interface FsEditRequest {
  readonly oldString: string
  readonly newString: string
  readonly replaceAll: boolean
}
export interface FsEditOutcome {
  readonly version: FsVersion
  readonly before: string | null
  readonly after: string
  readonly bytes?: FsChangedBytes
  readonly links?: number
}
export interface FsDeleteOutcome {
  readonly before: string | null
  readonly bytes?: FsChangedBytes
}
export interface FsPatchChunk {
  readonly contexts: readonly string[]
  readonly lines: readonly { readonly kind: 'context' | 'add' | 'remove'; readonly text: string }[]
  readonly endOfFile: boolean
}
export interface FsMoveOutcome {
  readonly version: FsVersion
  readonly operation: 'create' | 'update'
  readonly sourceBefore: string | null
  readonly before: string | null
  readonly after: string
  readonly sourceRemoved: boolean
  readonly removalError?: unknown
  /** Of the destination. */
  readonly bytes?: FsChangedBytes
  readonly sourceBytes?: Uint8Array
}

/** `ctx.fs`. Every method takes an optional signal; an abort is FS_ABORTED with `<verb> aborted`. */
export interface FsService {
  /** The default mode of a confining backend, else undefined: whether escalation fields are advertised. */
  readonly sandboxMode: SandboxMode | undefined
  resolve(
    path: string,
    options?: { readonly cwd?: string; readonly signal?: AbortSignal; readonly verb?: string },
  ): Promise<FsTarget>
  /** The canonical absolute path, which a subprocess can open. */
  processPath(target: FsTarget): string
  fileUrl(target: FsTarget): string
  contains(parent: FsTarget, child: FsTarget): boolean
  /** undefined = absent. */
  stat(target: FsTarget, signal?: AbortSignal): Promise<FsInfo | undefined>
  /** Whether the file is still what was seen as `version`: the same version, or the same bytes where they are known. */
  isFresh(target: FsTarget, version: FsVersion, signal?: AbortSignal): Promise<boolean>
  /** Never follows the last component. */
  lstat(path: string, options?: { readonly cwd?: string }, signal?: AbortSignal): Promise<FsPathInfo | undefined>
  readText(target: FsTarget, signal?: AbortSignal): Promise<string>
  streamText(target: FsTarget, signal?: AbortSignal): AsyncIterable<string>
  /** Fails on overflow, never truncates. */
  readBytes(target: FsTarget, signal: AbortSignal | undefined, maxBytes: number): Promise<Uint8Array>
  listDir(target: FsTarget, signal?: AbortSignal): Promise<readonly FsDirEntry[]>
  writeText(
    target: FsTarget,
    content: string | Uint8Array,
    expected?: FsWriteIntent,
    signal?: AbortSignal,
    policy?: SandboxPolicy,
  ): Promise<FsWriteOutcome>
  /** The guard is checked before the match; a missing file is stale. */
  editText(
    target: FsTarget,
    edit: FsEditRequest,
    expected?: { readonly version: FsVersion },
    signal?: AbortSignal,
    policy?: SandboxPolicy,
  ): Promise<FsEditOutcome>
  patchText(
    target: FsTarget,
    chunks: readonly FsPatchChunk[],
    expected?: { readonly version: FsVersion },
    signal?: AbortSignal,
    policy?: SandboxPolicy,
    label?: string,
  ): Promise<FsEditOutcome>
  deleteFile(
    target: FsTarget,
    expected?: { readonly version: FsVersion },
    signal?: AbortSignal,
    policy?: SandboxPolicy,
  ): Promise<FsDeleteOutcome>
  moveFile(
    source: FsTarget,
    destination: FsTarget,
    chunks: readonly FsPatchChunk[] | null,
    expected?: { readonly source?: { readonly version: FsVersion }; readonly destination?: FsWriteIntent },
    signal?: AbortSignal,
    policy?: SandboxPolicy,
    label?: string,
  ): Promise<FsMoveOutcome>
}
