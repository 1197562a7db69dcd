import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

export interface GitDirs {
  /** Where git itself must write when it commits. */
  readonly writable: readonly string[]
  /** What git runs for whoever uses the repository next. */
  readonly protected: readonly string[]
}

/**
 * The git directory of a linked worktree or submodule lies outside the workspace, and its `.git` is a file that names
 * it. The model can rewrite that file, so a directory counts only if it points back at this workspace from a place
 * that the file cannot choose: a worktree's own record below `worktrees/`, or a submodule's `core.worktree`.
 */
export function gitDirsOf(root: string): GitDirs | undefined {
  const dotGit = join(root, '.git')
  try {
    if (lstatSync(dotGit, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    const named = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8'))?.[1]
    if (named === undefined) return undefined
    const own = realpathSync.native(resolve(root, named))
    const common = worktreeCommon(own, dotGit) ?? submoduleCommon(own, root)
    if (common === undefined || !['HEAD', 'objects', 'refs'].every((name) => existsSync(join(common, name))))
      return undefined
    return {
      writable: [common],
      protected: ['hooks', 'config', 'config.worktree']
        .flatMap((name) => [join(common, name), join(own, name)])
        .filter((path, index, all) => all.indexOf(path) === index && existsSync(path)),
    }
  } catch {
    return undefined
  }
}

function worktreeCommon(own: string, dotGit: string): string | undefined {
  const record = join(own, 'gitdir')
  if (basename(dirname(own)) !== 'worktrees' || !existsSync(record)) return undefined
  const back = realpathSync.native(resolve(own, readFileSync(record, 'utf8').trimEnd()))
  return back === realpathSync.native(dotGit) ? dirname(dirname(own)) : undefined
}

function submoduleCommon(own: string, root: string): string | undefined {
  const config = join(own, 'config')
  if (!existsSync(config)) return undefined
  const back = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readFileSync(config, 'utf8'))?.[1]
  return back !== undefined && realpathSync.native(resolve(own, back)) === root ? own : undefined
}
