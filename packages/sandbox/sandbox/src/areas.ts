import { realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { sep } from 'node:path'
import type { SandboxPolicy } from './types.ts'

/** What a confined command may do below `path`. The deepest area that holds a path decides. */
export interface Area {
  readonly path: string
  readonly access: 'write' | 'read' | 'none'
}

/** The temporary directories that workspace-write may change, canonical and without repeats. */
export function tempRoots(): readonly string[] {
  const spelled = process.platform === 'win32' ? [tmpdir()] : ['/tmp', tmpdir()]
  return [...new Set(spelled.map(canonical))]
}

/**
 * The policy as areas, shallowest first, so that each may be laid over the ones before. Empty = not confined. One truth
 * for the file fence and for every runner.
 */
export function areasOf(policy: SandboxPolicy, temp: readonly string[] = tempRoots()): readonly Area[] {
  if (policy.mode === 'danger-full-access') return []
  const writable = policy.mode === 'read-only' ? [] : [policy.workspaceRoot, ...temp, ...(policy.writableRoots ?? [])]
  const access = new Map<string, Area['access']>([['/', 'read']])
  for (const path of writable) access.set(path, 'write')
  for (const path of policy.protectedPaths ?? []) access.set(path, 'read')
  for (const path of policy.hiddenPaths ?? []) access.set(path, 'none')
  return [...access].map(([path, what]) => ({ path, access: what })).sort((a, b) => depth(a.path) - depth(b.path))
}

/** What `areas` allow at `path`, both canonical. */
export function accessAt(areas: readonly Area[], path: string): Area['access'] {
  return areas.findLast((area) => isWithin(area.path, path))?.access ?? 'write'
}

/** Whether `path` is `root` or below it; both canonical. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** The real path, or the spelling where there is none. */
export function canonical(path: string): string {
  try {
    // Most files that a policy names are not there, and an error costs far more than a look.
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync.native(path)
  } catch {
    return path
  }
}

function depth(path: string): number {
  return path === sep ? 0 : path.split(sep).length
}
