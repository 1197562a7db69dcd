import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isWithin } from '@dsh/sandbox'

/** Where systems keep their own programs; looked at before PATH, which a workspace can prepend to. */
const systemDirectories = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/usr/sbin', '/sbin']

export interface Executable {
  readonly path: string
  /** Changes when the file is replaced. */
  readonly identity: string
}

export interface SearchOptions {
  readonly path: string | undefined
  /** Directories that confined commands may change; nothing in them is trusted. */
  readonly untrusted: readonly string[]
  /** For tests. */
  readonly system?: readonly string[]
}

/**
 * The absolute real path of a program that no confined command can have planted: outside every untrusted directory, not
 * in a `node_modules/.bin`, and changeable by nobody but root and the person who runs dsh.
 */
export function findExecutable(name: string, options: SearchOptions): Executable | undefined {
  const onPath = (options.path ?? '').split(':').filter((directory) => isAbsolute(directory))
  for (const directory of [...(options.system ?? systemDirectories), ...onPath]) {
    const found = trusted(join(directory, name), options.untrusted)
    if (found !== undefined) return found
  }
  return undefined
}

/** The program at an absolute path, if it can be trusted. */
export function trusted(candidate: string, untrusted: readonly string[]): Executable | undefined {
  try {
    accessSync(candidate, constants.X_OK)
    const path = realpathSync.native(candidate)
    for (const spelled of [candidate, path])
      if (spelled.includes('/node_modules/.bin/') || untrusted.some((root) => isWithin(root, spelled))) return undefined
    const file = statSync(path)
    if (!file.isFile() || !safe(file) || !safe(statSync(dirname(path)))) return undefined
    return { path, identity: [path, file.ino, file.size, file.mtimeMs].join(':') }
  } catch {
    return undefined
  }
}

/** Not writable by group or others, and owned by root or by us. */
function safe(stat: { readonly mode: number; readonly uid: number }): boolean {
  return (stat.mode & 0o022) === 0 && (stat.uid === 0 || stat.uid === process.geteuid?.())
}
