import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { FsService } from '@dsh/fs'
import type { ParsedOperation, PlannedOperation, PlannedPath } from './types.ts'

/** Resolves every path, in order. What does not resolve stays in the plan, for the preflight to report. */
export async function planPatch(
  operations: readonly ParsedOperation[],
  cwd: string,
  fs: FsService,
  signal: AbortSignal,
): Promise<readonly PlannedOperation[]> {
  const planned: PlannedOperation[] = []
  for (const [at, operation] of operations.entries()) {
    const { kind, line, path } = operation
    const source = await planPath(path, kind, cwd, fs, signal)
    const to = 'destination' in operation ? operation.destination : undefined
    const destination = to === undefined ? undefined : await planPath(to, kind, cwd, fs, signal)
    const moves = destination !== undefined && !sameFile(source, destination)
    planned.push({
      index: at + 1,
      // A move onto itself only changes the file.
      kind: kind === 'move' && !moves ? 'update' : kind,
      line,
      source,
      ...(moves ? { destination } : {}),
      content: 'content' in operation ? operation.content : '',
      chunks: 'chunks' in operation ? operation.chunks : [],
    })
  }
  return planned
}

async function planPath(
  path: string,
  verb: string,
  cwd: string,
  fs: FsService,
  signal: AbortSignal,
): Promise<PlannedPath> {
  try {
    const target = await fs.resolve(path, { cwd, signal, verb })
    return { label: labelOf(target.displayPath, cwd), target }
  } catch (problem) {
    if (signal.aborted) throw problem
    return { label: path, problem: problem instanceof Error ? relabelled(problem, resolve(cwd, path), path) : problem }
  }
}

function sameFile(a: PlannedPath, b: PlannedPath): boolean {
  return a.target !== undefined && a.target.targetKey === b.target?.targetKey
}

/** Relative to the session's directory where the path lies in it. */
function labelOf(displayPath: string, cwd: string): string {
  const below = relative(cwd, displayPath)
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? displayPath : below
}

/** The same failure with the path called as the patch calls it. */
export function relabelled(error: Error, shown: string, label: string): Error {
  if (error.message.includes(`"${shown}"`)) error.message = error.message.replaceAll(`"${shown}"`, `"${label}"`)
  return error
}
