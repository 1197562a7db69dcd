import fs from 'node:fs'
import { join } from 'node:path'
import { errorCode, errorText } from '@dsh/core'
import { guardVersion, isHeaderLine, readHeader, type SessionHeader, type StoredSession } from '@dsh/session'
import { projectDirs } from './locate.ts'
import { projectDir, rawName, zstdName } from './paths.ts'
import { parseFirst } from './scan.ts'
import { decompressLog } from './zstd.ts'

const indexName = 'index.json'
const indexVersion = 1

/** What the index remembers of one log, as long as its size and time stay the same. */
interface Entry {
  readonly size: number
  readonly mtimeMs: number
  readonly header?: SessionHeader
  readonly title?: string
  readonly prompt?: string
  /** How far the log was searched for titles. */
  readonly searched?: number
  readonly problem?: string
}
type Index = Record<string, Entry>

/**
 * Every stored session, newest first. Reads one index and the sizes; only logs that changed are opened, and only what
 * was added to them is searched. The index may be deleted at any time. A log that cannot be read counts as one of the
 * directory it is filed under.
 */
export async function listSessions(root: string, filter: { readonly cwd?: string } = {}): Promise<StoredSession[]> {
  const old = readIndex(root)
  const index: Index = {}
  const found: StoredSession[] = []
  let changed = false
  const wanted = filter.cwd === undefined ? undefined : projectDir(filter.cwd)
  for (const project of projectDirs(root)) {
    if (wanted !== undefined && project !== wanted) continue
    for (const dir of fs.readdirSync(join(root, project))) {
      const log = statLog(join(root, project, dir))
      if (log === undefined) continue
      const key = `${project}/${dir}/${log.name}`
      const known = old[key]
      const fresh = isFresh(known, log)
      const entry = fresh ? known : await readEntry(log, known)
      // What could not be read is looked at again: the reason may be gone without a change of the log.
      if (entry.problem === undefined) index[key] = entry
      changed ||= !fresh && (entry.problem === undefined || known !== undefined)
      const session = toStored(entry, log.path, dir)
      const here = session.header.cwd === filter.cwd || entry.header === undefined
      if (filter.cwd === undefined || here) found.push(session)
    }
  }
  if (wanted === undefined && (changed || Object.keys(old).length !== Object.keys(index).length))
    writeIndex(root, index)
  else if (changed) writeIndex(root, { ...old, ...index })
  return found.sort((a, b) => b.updatedAt - a.updatedAt || a.header.id.localeCompare(b.header.id))
}

function isFresh(known: Entry | undefined, { size, mtimeMs }: LogFile): known is Entry {
  return known !== undefined && known.problem === undefined && known.size === size && known.mtimeMs === mtimeMs
}

interface LogFile {
  readonly path: string
  readonly name: string
  readonly size: number
  readonly mtimeMs: number
}

function statLog(dir: string): LogFile | undefined {
  for (const name of [rawName, zstdName]) {
    const path = join(dir, name)
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile()) return { path, name, size: stat.size, mtimeMs: stat.mtimeMs }
  }
  return undefined
}

function toStored(entry: Entry, path: string, dir: string): StoredSession {
  const header = entry.header ?? unreadableHeader(dir)
  return {
    header,
    path,
    updatedAt: entry.mtimeMs,
    bytes: entry.size,
    ...(entry.title === undefined ? {} : { title: entry.title }),
    ...(entry.prompt === undefined ? {} : { prompt: entry.prompt }),
    ...(entry.problem === undefined ? {} : { problem: entry.problem }),
  }
}

/** A log without a readable header is still listed, under the id its directory stands for. */
function unreadableHeader(dir: string): SessionHeader {
  const id = dir.replace(/~([0-9A-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { type: 'session', version: 0, id, createdAt: 0, delegationDepth: 0 }
}

async function readEntry(log: LogFile, known: Entry | undefined): Promise<Entry> {
  const stat = { size: log.size, mtimeMs: log.mtimeMs }
  try {
    if (log.name === zstdName) {
      const { text } = await decompressLog(fs.readFileSync(log.path))
      return { ...stat, ...describe(text, log.path, 0, undefined) }
    }
    // A log only grows: what an earlier look found in its first bytes still holds.
    const grown = known?.header !== undefined && known.searched !== undefined && log.size >= known.searched
    const from = grown ? (known.searched as number) : 0
    return { ...stat, ...describe(readFrom(log.path, from, log.size), log.path, from, grown ? known : undefined) }
  } catch (error) {
    return { ...stat, problem: problemOf(error) }
  }
}

/** Damage and a system's refusal are told apart: a log that may not be read need not be damaged. */
function problemOf(error: unknown): string {
  return /^E[A-Z]+$/.test(errorCode(error) ?? '')
    ? `cannot be read: ${errorText(error)}`
    : `damaged: ${errorText(error)}`
}

function readFrom(path: string, from: number, size: number): Buffer {
  const fd = fs.openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(size - from)
    const read = fs.readSync(fd, bytes, 0, bytes.length, from)
    return bytes.subarray(0, read)
  } finally {
    fs.closeSync(fd)
  }
}

const titleMark = Buffer.from('{"type":"session/title",')
const promptMark = Buffer.from('{"type":"user/message",')

function describe(
  bytes: Buffer,
  path: string,
  from: number,
  known: Entry | undefined,
): Omit<Entry, 'size' | 'mtimeMs'> {
  let header = known?.header
  if (header === undefined) {
    const end = bytes.indexOf(0x0a)
    if (end < 0) throw new Error('empty or header-less session log')
    const value = parseFirst(bytes, end)
    if (isHeaderLine(value)) guardVersion(String(value['id']), value['version'], path)
    header = readHeader(value)
  }
  const title = lastOf(bytes, titleMark, (data) => text(data['title'])) ?? known?.title
  const prompt = known?.prompt ?? firstOf(bytes, promptMark, promptText)
  const lastNewline = bytes.lastIndexOf(0x0a)
  return {
    header,
    searched: from + lastNewline + 1,
    ...(title === undefined ? {} : { title }),
    ...(prompt === undefined ? {} : { prompt }),
  }
}

type Data = Record<string, unknown>

function lastOf<T>(bytes: Buffer, mark: Buffer, pick: (data: Data) => T | undefined): T | undefined {
  for (let at = bytes.lastIndexOf(mark); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(mark, at - 1)) {
    const found = pickAt(bytes, at, pick)
    if (found !== undefined) return found
  }
  return undefined
}

function firstOf<T>(bytes: Buffer, mark: Buffer, pick: (data: Data) => T | undefined): T | undefined {
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    const found = pickAt(bytes, at, pick)
    if (found !== undefined) return found
  }
  return undefined
}

/** The mark counts only at the start of a line; inside a line it is somebody's text. */
function pickAt<T>(bytes: Buffer, at: number, pick: (data: Data) => T | undefined): T | undefined {
  if (at > 0 && bytes[at - 1] !== 0x0a) return undefined
  const end = bytes.indexOf(0x0a, at)
  if (end < 0) return undefined
  try {
    return pick((JSON.parse(bytes.toString('utf8', at, end)) as { data: Data }).data)
  } catch {
    return undefined
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function promptText(data: Data): string | undefined {
  if ((data['source'] as Data | undefined)?.['kind'] !== 'user') return undefined
  const blocks = data['content'] as { type: string; text?: string }[]
  const joined = blocks.map((block) => block.text ?? '').join(' ')
  return joined.replace(/\s+/g, ' ').trim().slice(0, 200)
}

function readIndex(root: string): Index {
  try {
    const value = JSON.parse(fs.readFileSync(join(root, indexName), 'utf8')) as { version: number; logs: Index }
    return value.version === indexVersion && typeof value.logs === 'object' ? value.logs : {}
  } catch {
    return {}
  }
}

/** Best effort: a list that cannot be remembered is read again next time. */
function writeIndex(root: string, logs: Index): void {
  const path = join(root, indexName)
  const temporary = `${path}.${process.pid}.tmp`
  try {
    fs.writeFileSync(temporary, JSON.stringify({ version: indexVersion, logs }), { mode: 0o600 })
    fs.renameSync(temporary, path)
  } catch {
    fs.rmSync(temporary, { force: true })
  }
}
