import * as zlib from 'node:zlib'
import { sessionError } from '@dsh/session'
import { xxh64Low } from './xxh64.ts'

/** `node:zlib` knows Zstandard from Node 22.15 on; older runtimes read through `fzstd`, and cannot write it. */
interface ZlibWithZstd {
  readonly zstdCompressSync?: (bytes: Uint8Array, options?: object) => Buffer
  readonly zstdDecompressSync?: (bytes: Uint8Array, options?: object) => Buffer
  readonly constants: { readonly ZSTD_c_checksumFlag?: number; readonly ZSTD_e_flush?: number }
}
const native = zlib as unknown as ZlibWithZstd

export const canWriteZstd = (): boolean => native.zstdCompressSync !== undefined

/** One checksummed frame. */
export function compressFrame(bytes: Uint8Array): Buffer {
  const { zstdCompressSync, constants } = native
  if (zstdCompressSync === undefined) throw new TypeError('this runtime cannot write Zstandard')
  const params = constants.ZSTD_c_checksumFlag === undefined ? {} : { [constants.ZSTD_c_checksumFlag]: 1 }
  return zstdCompressSync(bytes, { params })
}

export interface Decompressed {
  readonly text: Buffer
  /** Where each complete frame ends, in the file and in the text; what follows in `text` was salvaged from a torn one. */
  readonly ends: readonly { readonly file: number; readonly text: number }[]
}

/** The text of a log of Zstandard frames; a torn last frame gives what can be had of it. */
export async function decompressLog(bytes: Buffer): Promise<Decompressed> {
  const { frames, goodBytes } = frameBounds(bytes)
  if (frames.length === 0) throw corrupt('empty or header-less Zstandard session log')
  const inflate = await decompressor()
  const parts = frames.map(({ start, end }, i) => {
    let part: Uint8Array
    try {
      part = inflate.whole(bytes.subarray(start, end))
    } catch (error) {
      throw corrupt(`corrupt Zstandard session log: frame at byte ${start} failed validation`, error)
    }
    checkFrame(part, i)
    return part
  })
  let length = 0
  const ends = frames.map(({ end }, i) => {
    length += (parts[i] as Uint8Array).length
    return { file: end, text: length }
  })
  if (goodBytes < bytes.length) parts.push(inflate.part(bytes.subarray(goodBytes)))
  return { text: Buffer.concat(parts), ends }
}

/** For repair: the text of every frame that gives any, whatever lies between. */
export async function decompressWhatCanBe(bytes: Buffer): Promise<{ readonly text: Buffer; readonly notes: string[] }> {
  const inflate = await decompressor()
  const parts: Uint8Array[] = []
  const notes: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = bytes.indexOf(magicBytes, at + 4)
    const end = safeFrameEnd(bytes, at) ?? (next < 0 ? bytes.length : next)
    try {
      parts.push(inflate.whole(bytes.subarray(at, end)))
    } catch {
      const part = inflate.part(bytes.subarray(at, end))
      notes.push(`frame at byte ${at}: damaged, ${part.length} bytes of text salvaged`)
      parts.push(part, Buffer.from('\n'))
    }
    at = end
  }
  return { text: Buffer.concat(parts), notes }
}

function safeFrameEnd(bytes: Buffer, at: number): number | undefined {
  try {
    return frameEnd(bytes, at)
  } catch {
    return undefined
  }
}

function checkFrame(part: Uint8Array, i: number): void {
  const last = part.length - 1
  if (i === 0 && (last < 0 || part.indexOf(0x0a) !== last))
    throw corrupt('corrupt Zstandard session log: first frame is not exactly one header line')
  if (last >= 0 && part[last] !== 0x0a)
    throw corrupt('corrupt Zstandard session log: complete frame contains a torn JSONL record')
}

interface Inflate {
  whole(frame: Uint8Array): Uint8Array
  /** Never throws: what a torn frame gives before it breaks. */
  part(frame: Uint8Array): Uint8Array
}

async function decompressor(): Promise<Inflate> {
  const { Decompress, decompress } = await import('fzstd')
  const salvage = (frame: Uint8Array) => {
    const parts: Uint8Array[] = []
    try {
      new Decompress((part) => void parts.push(part.slice())).push(frame)
    } catch {
      // The frame is torn: whatever came out before the tear is all there is.
    }
    return Buffer.concat(parts)
  }
  const checked = (frame: Uint8Array) => {
    const text = decompress(frame)
    const hasChecksum = ((frame[4] as number) & 0x04) !== 0
    if (hasChecksum && Buffer.from(frame.slice(-4)).readUInt32LE() !== xxh64Low(text))
      throw new Error('checksum mismatch')
    return text
  }
  return { whole: native.zstdDecompressSync ?? checked, part: salvage }
}

const magic = 0xfd2fb528
const magicBytes = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Walks frame and block headers; the last frame may be incomplete. */
export function frameBounds(bytes: Buffer): {
  readonly frames: readonly { readonly start: number; readonly end: number }[]
  readonly goodBytes: number
} {
  const frames: { start: number; end: number }[] = []
  let at = 0
  while (at < bytes.length) {
    const end = frameEnd(bytes, at)
    if (end === undefined) break
    frames.push({ start: at, end })
    at = end
  }
  return { frames, goodBytes: at }
}

/** Behind the frame that starts at `start`; undefined where the bytes end inside it. */
function frameEnd(bytes: Buffer, start: number): number | undefined {
  if (bytes.length - start < 4) {
    if (!bytes.subarray(start).equals(magicBytes.subarray(0, bytes.length - start))) throw badMagic(start)
    return undefined
  }
  if (bytes.readUInt32LE(start) !== magic) throw badMagic(start)
  const descriptor = bytes[start + 4]
  if (descriptor === undefined) return undefined
  if ((descriptor & 0x08) !== 0)
    throw corrupt(`corrupt Zstandard session log: reserved frame-header bit set at byte ${start + 4}`)
  const singleSegment = (descriptor & 0x20) !== 0
  const dictionary = [0, 1, 2, 4][descriptor & 3] as number
  const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number
  let at = start + 5 + (singleSegment ? 0 : 1) + dictionary + contentSize
  for (;;) {
    if (at + 3 > bytes.length) return undefined
    const header = bytes.readUIntLE(at, 3)
    const kind = (header >> 1) & 3
    if (kind === 3) throw corrupt(`corrupt Zstandard session log: reserved block type at byte ${at}`)
    at += 3 + (kind === 1 ? 1 : header >> 3)
    if (at > bytes.length) return undefined
    if ((header & 1) === 1) break
  }
  if ((descriptor & 0x04) !== 0) at += 4
  return at > bytes.length ? undefined : at
}

function badMagic(at: number) {
  return corrupt(`corrupt Zstandard session log: invalid frame magic at byte ${at}`)
}

function corrupt(message: string, cause?: unknown) {
  return sessionError('SESSION_LOG_CORRUPT', message, cause)
}
