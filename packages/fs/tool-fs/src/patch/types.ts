import type { FsPatchChunk, FsTarget } from '@dsh/fs'

/** One operation as the patch spells it. `line` is that of its header, from 1. */
export type ParsedOperation =
  | { readonly kind: 'add'; readonly line: number; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly line: number; readonly path: string }
  | {
      readonly kind: 'update' | 'move'
      readonly line: number
      readonly path: string
      readonly destination?: string
      readonly chunks: readonly FsPatchChunk[]
    }
export type OperationKind = ParsedOperation['kind']

/** A path of the patch: where it leads, and what it is called in reports. */
export interface PlannedPath {
  readonly label: string
  /** Absent: it does not resolve, and `problem` says why. */
  readonly target?: FsTarget
  readonly problem?: unknown
}

export interface PlannedOperation {
  /** From 1. */
  readonly index: number
  readonly kind: OperationKind
  readonly line: number
  readonly source: PlannedPath
  readonly destination?: PlannedPath
  readonly content: string
  readonly chunks: readonly FsPatchChunk[]
}

export interface Change {
  /** Canonical. */
  readonly path: string
  /** LF texts; null = was not there, respectively is gone, or too large to keep. */
  readonly before: string | null
  readonly after: string | null
}

export interface OperationReport {
  readonly index: number
  readonly kind: OperationKind
  readonly path: string
  readonly destination?: string
  readonly line: number
  readonly status: 'completed' | 'failed' | 'unknown' | 'skipped'
  readonly diagnostic?: string
  readonly changes: readonly Change[]
}

export interface CommitReport {
  readonly phase: 'commit'
  readonly cancelled: boolean
  readonly operations: readonly OperationReport[]
  readonly affectedPaths: readonly string[]
}
