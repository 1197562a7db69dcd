import { dirname } from 'node:path'
import { type Area, isWithin } from '@dsh/sandbox'

export type PathKind = 'directory' | 'file'

/** One mount, in the order in which they are laid over each other. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly path: string; readonly source?: string }
  /** An empty directory in place of the real one. */
  | { readonly kind: 'empty'; readonly path: string; readonly writable: boolean }
  /** Nothing that can be opened. */
  | { readonly kind: 'nothing'; readonly path: string }

export interface MountPlan {
  readonly mounts: readonly Mount[]
  /** Protected or hidden paths that are not there, so that no mount can cover them. */
  readonly absent: readonly string[]
}

export interface MaskedSockets {
  readonly directories: readonly string[]
  readonly files: readonly string[]
}

export interface PlanRequest {
  /** Shallowest first, `/` among them. */
  readonly areas: readonly Area[]
  /** What stands at `/tmp`: the real directory, an empty one, or a directory of the session. */
  readonly tmp:
    | { readonly kind: 'host' }
    | { readonly kind: 'empty' }
    | { readonly kind: 'own'; readonly source: string }
  readonly sockets: MaskedSockets
  readonly kindOf: (path: string) => PathKind | undefined
}

/** Turns areas into mounts, each laid over the ones before it. */
export function planMounts(request: PlanRequest): MountPlan {
  const absent: string[] = []
  const mounts: Mount[] = []
  const writable = request.areas.some(({ access }) => access === 'write')

  for (const layer of [...request.areas, ...sockets(request.sockets), ...tmp(request)].sort(byDepth)) {
    const { path, access } = layer
    const below = mounts.findLast((mount) => isWithin(mount.path, path))
    const kind = path === '/' ? 'directory' : request.kindOf(path)
    if (kind === undefined) {
      if (access !== 'write' && below?.kind === 'write') absent.push(path)
      continue
    }
    if (access === 'read' && below?.kind === 'read') continue
    if (access === 'none' && below?.kind === 'empty') continue
    if (below?.kind === 'write' && below.source === undefined) mounts.push(...pins(below.path, path, mounts))
    mounts.push(mountOf(layer, kind, writable))
  }
  return { mounts, absent }
}

/** Whether a command finds the real directory at `path`. */
export function isVisible(plan: MountPlan, path: string): boolean {
  const over = plan.mounts.findLast((mount) => isWithin(mount.path, path))
  return over !== undefined && (over.kind === 'read' || over.kind === 'write') && over.source === undefined
}

function mountOf({ path, access, scratch, source }: Layer, kind: PathKind, writable: boolean): Mount {
  if (access !== 'none') return { kind: access, path, ...(source === undefined ? {} : { source }) }
  return kind === 'file' ? { kind: 'nothing', path } : { kind: 'empty', path, writable: scratch === true && writable }
}

type Layer = Area & {
  /** An emptied directory that commands may fill again. */
  readonly scratch?: true
  readonly source?: string
}

function sockets({ directories, files }: MaskedSockets): Layer[] {
  return [
    ...directories.map((path) => ({ path, access: 'none' as const, scratch: true as const })),
    ...files.map((path) => ({ path, access: 'none' as const })),
  ]
}

function tmp({ tmp }: PlanRequest): Layer[] {
  if (tmp.kind === 'host') return []
  if (tmp.kind === 'own') return [{ path: '/tmp', access: 'write', source: tmp.source }]
  return [{ path: '/tmp', access: 'none', scratch: true }]
}

/**
 * A mounted directory cannot be renamed, but the directories above it can, and something else put in their place. Each
 * of them is mounted onto itself.
 */
function pins(outer: string, inner: string, mounts: readonly Mount[]): Mount[] {
  const between: Mount[] = []
  for (let path = dirname(inner); path !== outer && isWithin(outer, path); path = dirname(path))
    if (!mounts.some((mount) => mount.path === path)) between.unshift({ kind: 'write', path })
  return between
}

function byDepth(a: Area, b: Area): number {
  return depth(a.path) - depth(b.path)
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}
