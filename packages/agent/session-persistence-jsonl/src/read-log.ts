import fs from 'node:fs'
import { relative } from 'node:path'
import { isDshError } from '@dsh/core'
import {
  guardTypes,
  guardVersion,
  isHeaderLine,
  readHeader,
  type SessionEvent,
  type SessionHeader,
  sessionError,
  upgradeEvent,
  validateSeed,
} from '@dsh/session'
import { encodeId, projectDir, zstdName } from './paths.ts'
import { firstLine, type Scan, scanEvents } from './scan.ts'
import { decompressLog } from './zstd.ts'

export type Encoding = 'jsonl' | 'zstd'

export interface StoredLog {
  readonly header: SessionHeader
  /** Validated, upgraded, frozen. */
  readonly events: readonly SessionEvent[]
  readonly path: string
  readonly encoding: Encoding
  /** Bytes of the file to keep: whole lines, or whole frames. */
  readonly goodBytes: number
  /** Of `events`, those that lie behind `goodBytes`, salvaged from a frame that is not kept. */
  readonly salvaged: number
  /** What was left out at the end. */
  readonly dropped: Scan['dropped']
}

export interface ReadTarget {
  readonly root: string
  readonly path: string
  /** The id asked for; the header must agree. */
  readonly id: string
}

/** Reads, checks and upgrades a stored log. Changes nothing on disk. */
export async function readLog(target: ReadTarget): Promise<StoredLog> {
  const { path, id } = target
  const encoding: Encoding = path.endsWith(zstdName) ? 'zstd' : 'jsonl'
  const bytes = fs.readFileSync(path)
  try {
    const { text, ends } = encoding === 'zstd' ? await decompressLog(bytes) : { text: bytes, ends: undefined }
    const first = firstLine(text)
    if (isHeaderLine(first.value)) guardVersion(id, first.value['version'], path)
    const header = readHeader(first.value)
    checkPlace(header, target)
    const scan = scanEvents(text, first.end)
    const upgraded = scan.events.map((event) => upgradeEvent(event, id))
    guardTypes(id, upgraded, path)
    const events = validateSeed(upgraded)
    // Of a compressed log whole frames are kept; good lines behind the last of them are written anew.
    const kept = ends?.findLast((end) => end.text <= scan.goodBytes)
    const salvaged =
      kept === undefined || kept.text === scan.goodBytes ? 0 : countBehind(text, kept.text, first.end, scan)
    const goodBytes = kept?.file ?? scan.goodBytes
    return { header, events, path, encoding, goodBytes, salvaged, dropped: scan.dropped }
  } catch (error) {
    throw failedValidation(id, error)
  }
}

function countBehind(text: Buffer, end: number, from: number, scan: Scan): number {
  return scan.events.length - scanEvents(text.subarray(0, end), from).events.length
}

function checkPlace(header: SessionHeader, { root, path, id }: ReadTarget): void {
  if (header.id !== id)
    throw sessionError('SESSION_LOG_CORRUPT', `session header id "${header.id}" does not match session id "${id}"`)
  const [project, dir] = relative(root, path).split(/[/\\]/)
  if (project !== projectDir(header.cwd) || dir !== encodeId(header.id))
    throw sessionError('SESSION_LOG_CORRUPT', `the log lies at ${path}, which is not where its header puts it`)
}

/** Names the session; format refusals keep their own text, which names it already. */
export function failedValidation(id: string, error: unknown): unknown {
  if (isDshError(error) && error.code === 'SESSION_FORMAT_UNSUPPORTED') return error
  return sessionError(
    'SESSION_LOG_CORRUPT',
    `stored session "${id}" failed validation: ${error instanceof Error ? error.message : String(error)}`,
    error,
    `dsh sessions repair ${id} keeps what can be read`,
  )
}
