import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type FsTarget, fsError, fsErrors } from '@dsh/fs'
import { containsPath } from '@dsh/fs-local'
import type { SandboxPolicy } from '@dsh/sandbox'

/** Directories whose files may change, canonical. None in read-only mode. */
export function writableRoots(policy: SandboxPolicy): readonly string[] {
  if (policy.mode === 'read-only') return []
  return [...new Set([policy.workspaceRoot, '/tmp', tmpdir()].map(canonical))]
}

/** Throws unless the policy lets this file change. `target` must have been resolved just now. */
export function requireWritable(target: FsTarget, policy: SandboxPolicy): void {
  if (policy.mode === 'danger-full-access') return
  if (writableRoots(policy).some((root) => containsPath(root, target.targetKey))) return
  throw denied(target, policy)
}

export function denied(target: FsTarget, policy: SandboxPolicy): Error {
  return fsError(
    fsErrors.sandboxDenied,
    `cannot write "${target.displayPath}": file access denied under ${policy.mode} mode`,
  )
}

/** A root that does not resolve keeps its spelling. */
function canonical(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
