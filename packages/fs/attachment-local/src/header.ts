import type { ImageType } from './types.ts'

export interface ImageHeader {
  readonly type: ImageType
  readonly width: number
  readonly height: number
}

/** The format that the first bytes claim. */
export function sniffImageType(bytes: Uint8Array): ImageType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16))
  if (head.subarray(0, 8).equals(pngSignature)) return 'image/png'
  if (head.length >= 3 && head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
  const text = head.toString('latin1')
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

/** Format and stored size, from the header alone; undefined when it is damaged. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const type = sniffImageType(bytes)
  if (type === undefined) return undefined
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const size = sizeReaders[type](data)
  if (size === undefined || size.width < 1 || size.height < 1) return undefined
  return { type, ...size }
}

type Size = { readonly width: number; readonly height: number }
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const sizeReaders: { readonly [T in ImageType]: (data: Buffer) => Size | undefined } = {
  'image/png': (data) =>
    data.length >= 24 && data.toString('latin1', 12, 16) === 'IHDR'
      ? { width: data.readUInt32BE(16), height: data.readUInt32BE(20) }
      : undefined,
  'image/gif': (data) =>
    data.length >= 10 ? { width: data.readUInt16LE(6), height: data.readUInt16LE(8) } : undefined,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
}

/** Walks the segments to the frame header. */
function jpegSize(data: Buffer): Size | undefined {
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return undefined
    const marker = data[at + 1] as number
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) }
    const standalone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9)
    at += standalone ? 2 : 2 + data.readUInt16BE(at + 2)
  }
  return undefined
}

function webpSize(data: Buffer): Size | undefined {
  if (data.length < 30) return undefined
  const chunk = data.toString('latin1', 12, 16)
  if (chunk === 'VP8 ') return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff }
  if (chunk === 'VP8X') return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
  if (chunk !== 'VP8L') return undefined
  const bits = data.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
