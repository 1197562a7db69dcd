import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDshError } from '@dsh/core'
import { guardVersion, isHeaderLine, readHeader, type SessionHeader, sessionError, validateSeed } from '@dsh/session'
import { replaceFile } from './durable-file.ts'
import { locateLog } from './locate.ts'
import { continueLog, storedLines } from './open-log.ts'
import { encodeId, projectDir, rawName, zstdName } from './paths.ts'
import { type ReadTarget, readLog, type StoredLog } from './read-log.ts'
import { salvage } from './salvage.ts'
import { firstValue } from './scan.ts'
import { takeLock } from './writer-lock.ts'
import { decompressWhatCanBe } from './zstd.ts'

export interface RepairReport {
  readonly id: string
  readonly path: string
  /** The damaged file, kept beside the repaired one; absent when nothing had to be changed. */
  readonly backup?: string
  /** Events of the log as it is now. */
  readonly events: number
  /** What was lost, dropped or added. */
  readonly notes: readonly string[]
}

/**
 * Makes a damaged log whole under the same id. The damaged file stays beside it. A log that a newer program seems to
 * have written is refused, unless `dropUnknown` says that its unknown events may go.
 */
export async function repairLog(
  root: string,
  id: string,
  options: { readonly dropUnknown?: boolean } = {},
): Promise<RepairReport> {
  const path = locateLog(root, id)
  if (path === undefined) throw sessionError('SESSION_NOT_FOUND', `session "${id}" not found`)
  const lock = takeLock(dirname(path), id)
  try {
    const whole = await readWhole({ root, path, id }, options.dropUnknown === true)
    return whole === undefined ? await rebuildFile(path, id) : await closeFile(whole, id)
  } finally {
    lock.release()
  }
}

async function readWhole(target: ReadTarget, dropUnknown: boolean): Promise<StoredLog | undefined> {
  try {
    return await readLog(target)
  } catch (error) {
    if (!dropUnknown && isDshError(error) && error.code === 'SESSION_FORMAT_UNSUPPORTED') throw error
    return undefined
  }
}

/** A log that loads may still have a torn tail, or a turn that its writer left open. */
async function closeFile(log: StoredLog, id: string): Promise<RepairReport> {
  const { dropped } = log
  const backup = dropped === undefined ? undefined : backUp(log.path)
  const { file, path, events } = await continueLog(log)
  file.close()
  const added = events.length - log.events.length
  const notes = [
    ...(dropped === undefined
      ? []
      : [`line ${dropped.line} and what followed: dropped (${dropped.why}), ${dropped.bytes} bytes`]),
    ...(added === 0 ? [] : [`closed the turn that was open at the end (${added} events added)`]),
  ]
  return { id, path, events: events.length, notes, ...(backup === undefined ? {} : { backup }) }
}

async function rebuildFile(path: string, id: string): Promise<RepairReport> {
  const bytes = fs.readFileSync(path)
  const plain = path.endsWith(zstdName) ? await decompressWhatCanBe(bytes) : { text: bytes, notes: [] }
  const { value } = firstValue(plain.text)
  if (isHeaderLine(value)) guardVersion(id, value['version'], path)
  const { events, notes, movedTo } = salvage(plain.text, id)
  const header = wholeHeader(value, path, id, movedTo)
  // A repair that its own reader would refuse is no repair: nothing is written then.
  validateSeed(structuredClone(events) as never)
  const backup = backUp(path)
  const target = join(dirname(path), rawName)
  await replaceFile(target, Buffer.concat([Buffer.from(`${JSON.stringify(header.header)}\n`), storedLines(events)]))
  if (target !== path) fs.rmSync(path)
  return { id, path: target, backup, events: events.length, notes: [...plain.notes, ...header.notes, ...notes] }
}

function backUp(path: string): string {
  const backup = `${path}.${new Date().toISOString().replace(/[:.]/g, '-')}.bak`
  fs.copyFileSync(path, backup, fs.constants.COPYFILE_EXCL)
  return backup
}

/** The header as written, or one made from where the log lies. */
function wholeHeader(
  value: unknown,
  path: string,
  id: string,
  movedTo: (seq: number) => number,
): { header: SessionHeader; notes: string[] } {
  const project = basename(dirname(dirname(path)))
  try {
    const header = readHeader(value)
    const { seedLength } = header
    if (header.id === id && projectDir(header.cwd) === project)
      return { header: seedLength === undefined ? header : { ...header, seedLength: movedTo(seedLength) }, notes: [] }
  } catch {
    // Made anew below.
  }
  const cwd = project === projectDir(undefined) ? undefined : cwdOf(dirname(dirname(path)), project)
  if (cwd === undefined && project !== projectDir(undefined))
    throw sessionError(
      'SESSION_LOG_CORRUPT',
      `session "${id}" cannot be repaired: its header is lost, and nothing tells which directory ${project} stands for`,
      undefined,
      'run the repair from that directory',
    )
  const header: SessionHeader = {
    type: 'session',
    version: 0,
    id,
    createdAt: Math.floor(fs.statSync(path).birthtimeMs),
    ...(cwd === undefined ? {} : { cwd }),
    delegationDepth: 0,
  }
  return { header, notes: [`made a new header (cwd ${cwd ?? 'none'})`] }
}

/** The directory name is lossy; a neighbour's header or the current directory may tell what it stands for. */
function cwdOf(projectPath: string, project: string): string | undefined {
  if (projectDir(process.cwd()) === project) return process.cwd()
  for (const neighbour of fs.readdirSync(projectPath)) {
    try {
      const { cwd, id } = readHeader(firstValue(fs.readFileSync(join(projectPath, neighbour, rawName))).value)
      if (cwd !== undefined && encodeId(id) === neighbour && projectDir(cwd) === project) return cwd
    } catch {
      // The neighbour may be broken too.
    }
  }
  return undefined
}
