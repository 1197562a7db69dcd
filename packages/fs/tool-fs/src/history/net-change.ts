import type { FileChangeRecord } from './change-log.ts'

/** What a series of changes did to one file: how it was at first, how it was left. */
export interface NetChange {
  readonly path: string
  readonly before: Side
  readonly after: Side
}
/** `unknown`: there was a file, but too large to keep. */
export type Side = { readonly kind: 'absent' | 'unknown' } | { readonly kind: 'content'; readonly id: string }

export function netChanges(changes: readonly FileChangeRecord[]): readonly NetChange[] {
  const byPath = new Map<string, NetChange>()
  for (const change of changes) {
    const before = byPath.get(change.path)?.before ?? sideOf(change.before, change.operation === 'create')
    byPath.set(change.path, { path: change.path, before, after: sideOf(change.after, change.operation === 'delete') })
  }
  return [...byPath.values()]
}

function sideOf(id: string | undefined, absent: boolean): Side {
  if (absent) return { kind: 'absent' }
  return id === undefined ? { kind: 'unknown' } : { kind: 'content', id }
}
