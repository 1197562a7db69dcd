import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { errorCode } from '@dsh/core'
import { type FsTarget, fsError, fsErrors } from '@dsh/fs'
import { namedFault } from './errno.ts'
import type { Syscalls } from './syscalls.ts'

/**
 * Names a file: `targetKey` is where the kernel would end up (links followed, `..` physical), `displayPath` is
 * the caller's spelling made absolute. What does not exist yet keeps its missing suffix below the nearest
 * ancestor that does, so the key stays the same when the directories appear. No `~`, no URLs, no variables.
 */
export async function resolveTarget(
  path: string,
  cwd: string,
  verb: string,
  io: Pick<Syscalls, 'realpath'>,
): Promise<FsTarget> {
  const shown = checkedPath(path, cwd, verb)
  try {
    if (!hasDotDot(path) && !hasDotDot(cwd)) return { targetKey: await canonical(shown, io), displayPath: shown }
    const spelled = isAbsolute(path) ? path : join1(cwd, path)
    const targetKey = process.platform === 'win32' ? await canonical(shown, io) : await walk(spelled, io)
    // The collapsed spelling is the nicer name, where it names the same file.
    const same = (await canonical(shown, io).catch(() => undefined)) === targetKey
    return { targetKey, displayPath: same ? shown : tidy(spelled) }
  } catch (error) {
    throw namedFault(error, verb, shown)
  }
}

/** The entry itself, for whoever must not follow a link in the last component. */
export async function resolveEntry(
  path: string,
  cwd: string,
  verb: string,
  io: Pick<Syscalls, 'realpath'>,
): Promise<string> {
  const shown = checkedPath(path, cwd, verb)
  if (!hasDotDot(path) && !hasDotDot(cwd)) return shown
  const name = basename(path)
  if (name === '..' || name === '.') return (await resolveTarget(path, cwd, verb, io)).targetKey
  return join((await resolveTarget(dirname(path), cwd, verb, io)).targetKey, name)
}

/** The absolute, lexically normal spelling; refuses what can be no path at all. */
export function checkedPath(path: string, cwd: string, verb: string): string {
  if (path.trim() === '') throw fsError(fsErrors.notFound, 'file_path must be a non-empty string')
  const shown = resolve(cwd, path)
  if (shown.includes('\0'))
    throw fsError(fsErrors.io, `cannot ${verb} "${shown.replaceAll('\0', '\\0')}": path contains a NUL byte`)
  return shown
}

/** realpath of the nearest existing ancestor plus the missing rest. A dangling link is itself "missing". */
async function canonical(path: string, io: Pick<Syscalls, 'realpath'>): Promise<string> {
  let existing = path
  const missing: string[] = []
  for (;;) {
    try {
      return join(await io.realpath(existing), ...missing.reverse())
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      const parent = dirname(existing)
      if (parent === existing) throw error
      missing.push(existing.slice(parent.endsWith(sep) ? parent.length : parent.length + 1))
      existing = parent
    }
  }
}

/** Component by component, as the kernel does; a component that does not exist before a `..` collapses lexically. */
async function walk(path: string, io: Pick<Syscalls, 'realpath'>): Promise<string> {
  let at = '/'
  let missing = 0
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      at = dirname(at)
      missing = Math.max(0, missing - 1)
      continue
    }
    const next = join(at, part)
    if (missing > 0) {
      at = next
      missing++
      continue
    }
    try {
      at = await io.realpath(next)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      at = next
      missing = 1
    }
  }
  return at
}

function hasDotDot(path: string): boolean {
  return path.includes('..') && path.split(/[\\/]/).includes('..')
}

function join1(cwd: string, path: string): string {
  return cwd.endsWith('/') ? cwd + path : `${cwd}/${path}`
}

function tidy(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return `/${parts.join('/')}`
}
