import { isAbsolute } from 'node:path'
import { sessionError } from './errors.ts'
import type { CreateSessionOptions, SessionHeader } from './types.ts'

/** A header in the key order of the first line. */
export function makeHeader(id: string, createdAt: number, options: Omit<CreateSessionOptions, 'id'>): SessionHeader {
  const { cwd, parentSession, seedLength, origin, delegationDepth, agentPreset } = options
  if (id === '') throw invalidHeader('session id must not be empty')
  if (cwd !== undefined && !isAbsolute(cwd))
    throw invalidHeader(`session header cwd must be an absolute path, got "${cwd}"`)
  return Object.freeze({
    type: 'session',
    version: 0,
    id,
    createdAt,
    ...(cwd === undefined ? {} : { cwd }),
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(seedLength === undefined ? {} : { seedLength }),
    ...(origin === undefined ? {} : { origin }),
    delegationDepth: delegationDepth ?? 0,
    ...(agentPreset === undefined ? {} : { agentPreset }),
  })
}

/** The first line of a stored log, checked as a reader must. Newer versions are the version guard's business. */
export function readHeader(value: unknown): SessionHeader {
  if (!isHeaderLine(value)) throw corrupt('corrupt session log: first line is not a session header')
  const header = value as unknown as SessionHeader
  if (header.version !== 0) throw corrupt(`session header version must be 0, got ${String(header.version)}`)
  if (typeof header.id !== 'string' || header.id === '') throw corrupt('session header id must be a non-empty string')
  if (!isCount(header.createdAt)) throw corrupt('session header createdAt must be a non-negative safe integer')
  if (header.cwd !== undefined && (typeof header.cwd !== 'string' || !isAbsolute(header.cwd)))
    throw corrupt(`session header cwd must be an absolute path, got ${JSON.stringify(header.cwd)}`)
  if ('sandboxMode' in value || 'approvalPolicy' in value)
    throw corrupt('session header uses retired policy baseline fields')
  if (!isCount(header.delegationDepth))
    throw corrupt('session header delegationDepth must be a non-negative safe integer')
  if (header.seedLength !== undefined && !isCount(header.seedLength))
    throw corrupt('session header seedLength must be a non-negative safe integer')
  for (const key of ['parentSession', 'agentPreset'] as const)
    if (header[key] !== undefined && typeof header[key] !== 'string')
      throw corrupt(`session header ${key} must be a string`)
  if (header.origin !== undefined && header.origin !== 'subagent')
    throw corrupt('session header origin must be "subagent" when present')
  return Object.freeze({ ...header })
}

export function isHeaderLine(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'session'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function invalidHeader(message: string) {
  return sessionError('SESSION_INVALID_HEADER', message)
}

function corrupt(message: string) {
  return sessionError('SESSION_LOG_CORRUPT', message)
}
