import type { FsTarget, FsVersion } from '@dsh/fs'
import type { ToolExecution } from '@dsh/tools'
import type { FileChange, FileToolDeps } from './deps.ts'

/** After a change: it is observed at its new version, its before-text is kept, and its canonical path is the result's. */
export async function settleMutation(
  target: FsTarget,
  version: FsVersion,
  change: Omit<FileChange, 'path'>,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<string> {
  deps.observed(target, { kind: 'present', version }, exec)
  const path = deps.fs.processPath(target)
  await deps.changed({ ...change, path }, exec)
  return path
}

/** A line for the model when other names of the file kept the old content. */
export function splitLinksNote(links: number | undefined): string | undefined {
  if (links === undefined || links < 2) return undefined
  const others = links === 2 ? 'one other hard link' : `${links - 1} other hard links`
  return `Note: ${others} to this file keep${links === 2 ? 's' : ''} the old content.`
}
