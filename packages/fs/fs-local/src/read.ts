import { constants, isUtf8 } from 'node:buffer'
import { constants as fsConstants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { type FsTarget, fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import { namedFault } from './errno.ts'
import type { Syscalls } from './syscalls.ts'
import { binaryFile, decodeText, invalidText, sniffBytes } from './text.ts'
import { contentHash, type SeenContents, versionOf } from './version.ts'

/** Files up to here are hashed when they are read. */
export const hashMaxBytes = 10 * 1024 * 1024
const chunkBytes = 512 * 1024
// A FIFO would block until somebody writes to it, a terminal would become ours.
const readFlags = fsConstants.O_RDONLY | (fsConstants.O_NONBLOCK ?? 0) | (fsConstants.O_NOCTTY ?? 0)

/** Opens a regular file, or says why not in the words of `verb`. */
export async function openRegular(target: FsTarget, verb: string, io: Syscalls): Promise<FileHandle> {
  let handle: FileHandle
  try {
    const stat = await io.stat(target.targetKey)
    if (!stat.isFile()) throw notRegular(target, verb, stat.isDirectory())
    handle = await io.open(target.targetKey, readFlags)
  } catch (error) {
    throw namedFault(error, verb, target.displayPath)
  }
  return handle
}

export function notRegular(target: FsTarget, verb: string, directory: boolean): Error {
  return fsError(fsErrors.notRegularFile, `cannot ${verb} "${target.displayPath}": not a regular file`, {
    hint: directory ? 'Hint: this is a directory; list it with glob, or with `ls` in bash.' : undefined,
  })
}

/** Runs `use` on an open file and closes it on every path. */
async function withFile<T>(handle: FileHandle, target: FsTarget, verb: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw namedFault(error, verb, target.displayPath)
  } finally {
    await handle.close().catch(() => undefined)
  }
}

/** The rest of an open file; `limit` inclusive, undefined when it holds more. */
export async function readAll(
  handle: FileHandle,
  sizeHint: number,
  limit: number,
  signal: AbortSignal | undefined,
  verb: string,
): Promise<Buffer | undefined> {
  let buffer = Buffer.allocUnsafe(Math.min(sizeHint, limit) + 1)
  let length = 0
  for (;;) {
    throwIfAborted(signal, verb)
    if (length === buffer.length) {
      if (length > limit) return undefined
      const larger = Buffer.allocUnsafe(Math.min(Math.max(length * 2, 64 * 1024), limit + 1))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    const { bytesRead } = await handle.read(buffer, length, Math.min(buffer.length - length, 16 * chunkBytes), null)
    if (bytesRead === 0) return buffer.subarray(0, length)
    length += bytesRead
    if (length > limit) return undefined
  }
}

export async function readWholeText(
  target: FsTarget,
  io: Syscalls,
  seen: SeenContents,
  signal?: AbortSignal,
): Promise<string> {
  throwIfAborted(signal, 'read')
  const handle = await openRegular(target, 'read', io)
  return await withFile(handle, target, 'read', async () => {
    const stat = await handle.stat({ bigint: true })
    const limit = constants.MAX_STRING_LENGTH
    const bytes = await readAll(handle, Number(stat.size), limit, signal, 'read')
    if (bytes === undefined) throw tooLarge(target, 'read', Number(stat.size), limit)
    const { text } = decodeText(bytes, 'read', target.displayPath, 'head')
    if (bytes.length <= hashMaxBytes) await rememberIfUnchanged(handle, stat, bytes, target, seen)
    return text
  })
}

/** The hash belongs to a version only when the file did not move under the read. */
async function rememberIfUnchanged(
  handle: FileHandle,
  before: Parameters<typeof versionOf>[0],
  bytes: Buffer,
  target: FsTarget,
  seen: SeenContents,
): Promise<void> {
  const version = versionOf(before)
  if (bytes.length !== Number(before.size) || versionOf(await handle.stat({ bigint: true })) !== version) return
  seen.remember(target.targetKey, version, contentHash(bytes))
}

/** The same text in pieces: strict over chunk borders, one chunk in memory. */
export async function* streamTextOf(target: FsTarget, io: Syscalls, signal?: AbortSignal): AsyncGenerator<string> {
  throwIfAborted(signal, 'read')
  const handle = await openRegular(target, 'read', io)
  const shown = target.displayPath
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let kept = 0
    let offset = 0
    for (;;) {
      throwIfAborted(signal, 'read')
      const { bytesRead } = await handle.read(buffer, kept, buffer.length - kept, null)
      if (bytesRead === 0) break
      const filled = buffer.subarray(0, kept + bytesRead)
      if (offset < sniffBytes && filled.subarray(0, sniffBytes - offset + kept).includes(0))
        throw binaryFile('read', shown, filled)
      const whole = completePrefix(filled)
      const piece = filled.subarray(0, whole)
      if (!isUtf8(piece)) throw invalidText('read', shown, offset === 0 ? filled : Buffer.alloc(0))
      const text = piece.toString('utf8')
      const first = offset === 0
      offset += bytesRead
      kept = filled.length - whole
      if (kept > 0) filled.copy(buffer, 0, whole)
      if (kept > 3) throw invalidText('read', shown, Buffer.alloc(0))
      yield first && text.startsWith('\uFEFF') ? text.slice(1) : text
    }
    if (kept > 0) throw invalidText('read', shown, Buffer.alloc(0))
  } catch (error) {
    throw namedFault(error, 'read', shown)
  } finally {
    await handle.close().catch(() => undefined)
  }
}

/** Length without a multi-byte sequence that the end of the chunk cuts. */
function completePrefix(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needs > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Raw bytes; more than `maxBytes` (inclusive) is an error, never a cut. */
export async function readBytesOf(
  target: FsTarget,
  io: Syscalls,
  signal: AbortSignal | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  throwIfAborted(signal, 'read')
  const handle = await openRegular(target, 'read', io)
  return await withFile(handle, target, 'read', async () => {
    const size = Number((await handle.stat({ bigint: true })).size)
    if (size > maxBytes) throw tooLarge(target, 'read', size, maxBytes)
    const bytes = await readAll(handle, size, maxBytes, signal, 'read')
    if (bytes === undefined)
      throw fsError(
        fsErrors.tooLarge,
        `cannot read "${target.displayPath}": content exceeds the ${maxBytes}-byte limit`,
      )
    return bytes
  })
}

export function tooLarge(target: FsTarget, verb: string, size: number, limit: number): Error {
  return fsError(
    fsErrors.tooLarge,
    `cannot ${verb} "${target.displayPath}": ${size} bytes exceeds the ${limit}-byte limit`,
  )
}
