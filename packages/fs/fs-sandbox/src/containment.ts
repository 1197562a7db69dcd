import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { accessAt, areasOf, canonical, isWithin, type SandboxPolicy } from '@dsh/sandbox'

/** Whether the policy lets the file with this canonical path change. */
export function mayWrite(key: string, policy: SandboxPolicy): boolean {
  if (policy.mode === 'danger-full-access') return true
  const areas = areasOf(policy)
  if (accessAt(areas, key) === 'write') return true
  // The same directory may have a second name (a bind mount, letter case): judge the file under the root's own.
  const roots = areas.filter((area) => area.access === 'write').map((area) => area.path)
  return roots.some((root) => {
    const alias = renamedBelow(root, key)
    return alias !== undefined && accessAt(areas, alias) === 'write'
  })
}

/** Whether tools may read it at all. Only what is listed is hidden. */
export function isHidden(key: string, policy: SandboxPolicy): boolean {
  return (policy.hiddenPaths ?? []).some((hidden) => isWithin(hidden, key))
}

/**
 * `key` spelled below `root`, when one of its ancestors is that very directory under another name. A root that has
 * become a link since it was found, or lies behind one, has no second name: it would be followed out.
 */
function renamedBelow(root: string, key: string): string | undefined {
  if (canonical(root) !== root) return undefined
  const wanted = identity(root)
  if (wanted === undefined) return undefined
  for (let at = key; ; at = dirname(at)) {
    if (identity(at) === wanted) return root + key.slice(at.length)
    if (dirname(at) === at) return undefined
  }
}

function identity(path: string): string | undefined {
  try {
    const stat = statSync(path, { bigint: true })
    return `${stat.dev}:${stat.ino}`
  } catch {
    return undefined
  }
}
