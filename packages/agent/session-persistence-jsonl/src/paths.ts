import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { SessionHeader } from '@dsh/session'
import { storeError } from './errors.ts'

export const rawName = 'session.jsonl'
export const zstdName = 'session.jsonl.zstd'
export const lockName = 'session.lock'

/** One directory for all sessions of a working directory. Lossy: the id below it is what identifies a session. */
export function projectDir(cwd: string | undefined): string {
  if (cwd === undefined) return '_no-cwd'
  const key = cwd
    .replace(/[/\\:]+/g, '-')
    .split('')
    .map(safeUnit)
    .join('')
    .replace(/^-+/, '')
  return `--${(key === '' ? 'root' : key).slice(0, 251)}--`
}

export function encodeId(id: string): string {
  if (id === '') throw storeError('SESSION_STORE', 'cannot encode an empty path segment')
  if (id === '.') return '~002E'
  if (id === '..') return '~002E~002E'
  return id.split('').map(safeUnit).join('')
}

function safeUnit(unit: string): string {
  if (/[A-Za-z0-9._-]/.test(unit)) return unit
  return `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

export function sessionDir(root: string, header: Pick<SessionHeader, 'id' | 'cwd'>): string {
  return join(root, projectDir(header.cwd), encodeId(header.id))
}

/** `~` expanded; a relative root is a mistake in the configuration. */
export function resolveRoot(root: string): string {
  const expanded = root === '~' || root.startsWith('~/') ? join(homedir(), root.slice(1)) : root
  if (!isAbsolute(expanded))
    throw storeError('SESSION_STORE', `session-persistence-jsonl: root must be absolute, got "${root}"`)
  return expanded
}

/** Where sessions live when the row's configuration does not say. */
export function defaultRoot(env: NodeJS.ProcessEnv = process.env): string {
  const home = env['DSH_HOME']?.trim()
  return resolveRoot(join(home === undefined || home === '' ? join(homedir(), '.dsh') : resolveRoot(home), 'sessions'))
}
