import type { Metadata, Sharp, SharpConstructor } from 'sharp'
import { attachmentError } from './errors.ts'
import { type ImageHeader, readImageHeader } from './header.ts'
import type { ImageLimits, ImageType } from './types.ts'

export interface NormalizedImage {
  readonly bytes: Uint8Array
  readonly type: ImageType
  readonly width: number
  readonly height: number
  /** As shown, orientation applied. */
  readonly original: { readonly width: number; readonly height: number }
}

type SharpFactory = SharpConstructor
let loaded: Promise<SharpFactory | undefined> | undefined

/** The image library, loaded at the first image; undefined where it is not installed. */
export function loadSharp(): Promise<SharpFactory | undefined> {
  loaded ??= import('sharp').then(
    (module) => module.default,
    () => undefined,
  )
  return loaded
}

/** Refuses what cannot be an image within the limits, before anything is decoded. */
export function admitHeader(bytes: Uint8Array, limits: ImageLimits): ImageHeader {
  if (bytes.length > limits.maxImageBytes) throw attachmentError('IMAGE_TOO_LARGE')
  if (bytes.length === 0) throw attachmentError('INVALID_IMAGE', { message: 'Image is empty.' })
  const header = readImageHeader(bytes)
  if (header === undefined) throw attachmentError('INVALID_IMAGE')
  if (header.width * header.height > limits.maxImagePixels) throw attachmentError('IMAGE_TOO_MANY_PIXELS')
  if (Math.max(header.width, header.height) > limits.maxImageDimension)
    throw attachmentError('IMAGE_DIMENSION_TOO_LARGE')
  return header
}

/** The image as it is stored: one frame, upright, 8-bit sRGB, without metadata, within the normalised limits. */
export async function normalizeImage(
  bytes: Uint8Array,
  declared: ImageType,
  limits: ImageLimits,
  library: SharpFactory | undefined,
): Promise<NormalizedImage> {
  const header = admitHeader(bytes, limits)
  if (library === undefined) return unchangedWithin(bytes, declared, header, limits)
  const open = () => library(bytes, { failOn: 'error', limitInputPixels: limits.maxImagePixels })
  let metadata: Metadata
  let opaque: boolean
  try {
    metadata = await open().metadata()
    // Decodes every pixel without holding them.
    opaque = (await open().stats()).isOpaque
  } catch (error) {
    throw attachmentError('INVALID_IMAGE', { cause: error })
  }
  requireType(header, declared)
  const original = upright(metadata, header)
  if (isNormal(bytes, metadata, header, limits)) return { bytes, ...header, original }
  try {
    return { ...(await convert(open, opaque, limits, library)), original }
  } catch (error) {
    const sixteenBit = metadata.depth === 'ushort' && header.type === 'image/png'
    if (error instanceof TooLarge) throw tooLargeToStore()
    throw attachmentError('ATTACHMENT_WRITE_FAILED', {
      message: `The ${sixteenBit ? '16-bit PNG' : 'image'} could not be converted to the normalized 8-bit sRGB form.`,
      cause: error,
    })
  }
}

function unchangedWithin(
  bytes: Uint8Array,
  declared: ImageType,
  header: ImageHeader,
  limits: ImageLimits,
): NormalizedImage {
  requireType(header, declared)
  const small =
    bytes.length <= limits.normalizedImageMaxBytes &&
    Math.max(header.width, header.height) <= limits.normalizedImageMaxDimension
  if (!small) throw attachmentError('IMAGE_LIBRARY_MISSING')
  return { bytes, ...header, original: { width: header.width, height: header.height } }
}

function requireType(header: ImageHeader, declared: ImageType): void {
  if (header.type !== declared) throw attachmentError('IMAGE_TYPE_MISMATCH')
}

function upright(metadata: Metadata, header: ImageHeader): { readonly width: number; readonly height: number } {
  const turned = (metadata.orientation ?? 1) >= 5
  return turned ? { width: header.height, height: header.width } : { width: header.width, height: header.height }
}

/** Byte for byte good as it is. */
function isNormal(bytes: Uint8Array, metadata: Metadata, header: ImageHeader, limits: ImageLimits): boolean {
  return (
    header.type !== 'image/gif' &&
    (metadata.pages ?? 1) === 1 &&
    metadata.orientation === undefined &&
    [metadata.exif, metadata.icc, metadata.xmp, metadata.iptc].every((part) => part === undefined) &&
    metadata.depth === 'uchar' &&
    metadata.space === 'srgb' &&
    bytes.length <= limits.normalizedImageMaxBytes &&
    Math.max(header.width, header.height) <= limits.normalizedImageMaxDimension
  )
}

class TooLarge extends Error {}

interface Pixels {
  readonly data: Buffer
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
}

async function convert(
  open: () => Sharp,
  opaque: boolean,
  limits: ImageLimits,
  library: SharpFactory,
): Promise<Omit<NormalizedImage, 'original'>> {
  let edge = limits.normalizedImageMaxDimension
  for (;;) {
    const pixels = await render(open(), edge, opaque)
    const encodings = encodingsFor(pixels, await isLowColour(pixels, library), library)
    let smallest = Number.POSITIVE_INFINITY
    for (const { type, encode } of encodings) {
      const bytes = await encode()
      smallest = Math.min(smallest, bytes.length)
      if (bytes.length <= limits.normalizedImageMaxBytes) return verified(bytes, type, pixels)
    }
    const { width, height } = pixels
    if (width === 1 && height === 1) throw new TooLarge()
    const factor = Math.min(0.9, 0.95 * Math.sqrt(limits.normalizedImageMaxBytes / smallest))
    edge = Math.max(1, Math.floor(Math.max(width, height) * factor))
  }
}

async function render(source: Sharp, edge: number, opaque: boolean): Promise<Pixels> {
  const fitted = source
    .rotate()
    .resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
  const shaped = opaque ? fitted.removeAlpha() : fitted.ensureAlpha()
  const { data, info } = await shaped.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: opaque ? 3 : 4 }
}

const sampleEdge = 128
const lowColours = 256

/** Drawings and screenshots: few colours in a small sample, at five bits a channel. */
async function isLowColour(pixels: Pixels, library: SharpFactory): Promise<boolean> {
  const { data } = await fromPixels(pixels, library)
    .resize({ width: sampleEdge, height: sampleEdge, fit: 'inside', withoutEnlargement: true, kernel: 'nearest' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const colours = new Set<number>()
  for (let at = 0; at + 2 < data.length && colours.size <= lowColours; at += pixels.channels)
    colours.add(
      ((data[at] as number) >> 3) * 1024 + ((data[at + 1] as number) >> 3) * 32 + ((data[at + 2] as number) >> 3),
    )
  return colours.size <= lowColours
}

function fromPixels({ data, width, height, channels }: Pixels, library: SharpFactory): Sharp {
  return library(data, { raw: { width, height, channels } })
}

const qualities = [85, 80, 75]

function encodingsFor(pixels: Pixels, lowColour: boolean, library: SharpFactory) {
  const alpha = pixels.channels === 4
  const image = () => fromPixels(pixels, library)
  const webp = qualities.map((quality) => ({
    type: 'image/webp' as const,
    encode: () => image().webp({ quality }).toBuffer(),
  }))
  const jpeg = qualities.map((quality) => ({
    type: 'image/jpeg' as const,
    encode: () => image().jpeg({ quality }).toBuffer(),
  }))
  const png = {
    type: 'image/png' as const,
    encode: () => image().png({ compressionLevel: 9, palette: !alpha }).toBuffer(),
  }
  if (lowColour) return [png, ...webp]
  return alpha ? webp : jpeg
}

function verified(bytes: Buffer, type: ImageType, pixels: Pixels): Omit<NormalizedImage, 'original'> {
  const header = readImageHeader(bytes)
  if (header?.type !== type || header.width !== pixels.width || header.height !== pixels.height)
    throw new Error('the encoded image does not read back')
  return { bytes, type, width: header.width, height: header.height }
}

function tooLargeToStore(): Error {
  return attachmentError('IMAGE_TOO_LARGE', {
    message: 'Image cannot be encoded within the configured normalized-image byte cap.',
  })
}
