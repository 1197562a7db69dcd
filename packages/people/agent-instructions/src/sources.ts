import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'

export interface SourceOptions {
  /** Names looked for in every directory, in this order. */
  readonly names: readonly string[]
  /** A directory that contains this is the project's root. */
  readonly rootMarker: string
  /** A longer file is skipped. */
  readonly maxSourceBytes: number
  /** Holds credentials and logs: a project's file that links into it is skipped. */
  readonly home: string
}

/** One instruction file that has something to say. */
export interface Source {
  /** `user` = the home's own; else the absolute directory. Broadest first in every list. */
  readonly scope: string
  /** Absolute. */
  readonly file: string
  readonly text: string
  /** SHA-1 of the trimmed text. */
  readonly digest: string
}

/** Reads instruction files; a file that did not change on disk is not read again. */
export function createReader({ names, maxSourceBytes, home }: SourceOptions) {
  const known = new Map<string, { readonly stamp: string; readonly source: Omit<Source, 'scope'> | undefined }>()

  const read = (file: string): Omit<Source, 'scope'> | undefined => {
    const stats = fileStats(file)
    if (stats === undefined || stats.size > maxSourceBytes) return undefined
    const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}`
    const before = known.get(file)
    if (before?.stamp === stamp) return before.source
    const source = leadsInto(home, file) ? undefined : load(file)
    known.set(file, { stamp, source })
    return source
  }

  /** The files of one directory; equal texts count once. */
  return (dir: string, scope: string): Source[] => {
    const seen = new Set<string>()
    return names.flatMap((name) => {
      const source = read(path.join(dir, name))
      if (source === undefined || seen.has(source.digest)) return []
      seen.add(source.digest)
      return [{ scope, ...source }]
    })
  }
}

/** The project's root down to `cwd`; `cwd` alone where no ancestor is a project. */
export function projectDirs(cwd: string, rootMarker: string): string[] {
  const up: string[] = []
  for (let dir = cwd; ; dir = path.dirname(dir)) {
    up.unshift(dir)
    if (exists(path.join(dir, rootMarker))) return up
    if (path.dirname(dir) === dir) return [cwd]
  }
}

/** The directories below `cwd` that lead to `file`, its own included; none for a file elsewhere. */
export function nestedDirs(cwd: string, file: string): string[] {
  const below = path.relative(cwd, path.dirname(file))
  if (below === '' || below.startsWith('..') || path.isAbsolute(below)) return []
  return below.split(path.sep).map((_, i, parts) => path.join(cwd, ...parts.slice(0, i + 1)))
}

function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** Whether a file elsewhere is a link to something below `dir`: what a repository brings must not carry secrets out. */
function leadsInto(dir: string, file: string): boolean {
  try {
    return !isBelow(dir, file) && isBelow(realpathSync(dir), realpathSync(file))
  } catch {
    return false
  }
}

function isBelow(dir: string, file: string): boolean {
  const relative = path.relative(dir, file)
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative)
}

function fileStats(file: string): Stats | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() === true ? stats : undefined
  } catch {
    // Unreadable counts as absent: an instruction file must never end a turn.
    return undefined
  }
}

function load(file: string): Omit<Source, 'scope'> | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch {
    return undefined
  }
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return { file, text, digest: createHash('sha1').update(trimmed).digest('hex') }
}
