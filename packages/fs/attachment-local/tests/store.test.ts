import { createHash } from 'node:crypto'
import * as nodeFs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAttachmentStore } from '../src/index.ts'
import { displayName } from '../src/store.ts'
import type { ImageLimits } from '../src/types.ts'
import { drawing, photo } from './images.ts'

const limits: ImageLimits = {
  maxImageBytes: 50 * 1024 * 1024,
  maxImagesPerMessage: 2,
  maxMessageImageBytes: 1_000_000,
  maxImagePixels: 64_000_000,
  maxImageDimension: 8192,
  normalizedImageMaxDimension: 2048,
  normalizedImageMaxBytes: 4 * 1024 * 1024,
}
let root: string
beforeEach(() => {
  root = nodeFs.mkdtempSync(join(tmpdir(), 'dsh-attachments-'))
})
afterEach(() => nodeFs.rmSync(root, { recursive: true, force: true }))

const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const
const store = (more: Partial<ImageLimits> = {}, library?: () => Promise<undefined>) =>
  createAttachmentStore({
    root,
    limits: { ...limits, ...more },
    acceptedTypes: types,
    concurrency: 2,
    ...(library === undefined ? {} : { library }),
  })
const withoutSharp = async () => undefined

describe('the attachment store', () => {
  it('keeps an image that needs nothing byte for byte, under its hash, private', async () => {
    const bytes = await drawing(30, 20).png().toBuffer()
    const ref = await store().saveImage({ bytes, declaredType: 'image/png', name: '/a/b\\c.png' })
    const hex = createHash('sha256').update(bytes).digest('hex')
    expect(ref).toEqual({
      attachmentId: `sha256:${hex}`,
      mediaType: 'image/png',
      bytes: bytes.length,
      width: 30,
      height: 20,
      name: 'c.png',
    })
    const path = join(root, 'objects', hex.slice(0, 2), hex)
    expect(store().pathOf(ref)).toBe(path)
    expect(nodeFs.readFileSync(path).equals(bytes)).toBe(true)
    expect(nodeFs.statSync(path).mode & 0o777).toBe(0o600)
    expect(nodeFs.statSync(join(root, 'objects')).mode & 0o777).toBe(0o700)
    expect(nodeFs.readdirSync(join(root, 'tmp'))).toEqual([])
    expect(Buffer.from(await store().read(ref)).equals(bytes)).toBe(true)
  })

  it('shrinks the longer side and says what it was', async () => {
    const bytes = await photo(3000, 1500).jpeg().toBuffer()
    const ref = await store().saveImage({ bytes, declaredType: 'image/jpeg' })
    expect(ref).toMatchObject({
      mediaType: 'image/jpeg',
      width: 2048,
      height: 1024,
      originalDimensions: { width: 3000, height: 1500 },
    })
  })

  it('turns an image upright and drops its metadata', async () => {
    const bytes = await photo(40, 20).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const ref = await store().saveImage({ bytes, declaredType: 'image/jpeg' })
    expect(ref).toMatchObject({ width: 20, height: 40 })
    expect(ref.originalDimensions).toBeUndefined()
    const metadata = await sharp(Buffer.from(await store().read(ref))).metadata()
    expect([metadata.orientation, metadata.exif]).toEqual([undefined, undefined])
  })

  it('makes a drawing a PNG, a photo with alpha a WebP, a GIF a still', async () => {
    const gif = await drawing(20, 20).gif().toBuffer()
    expect(await store().saveImage({ bytes: gif, declaredType: 'image/gif' })).toMatchObject({
      mediaType: 'image/png',
      width: 20,
    })
    const alpha = await photo(2100, 400, 4).png().toBuffer()
    expect(await store().saveImage({ bytes: alpha, declaredType: 'image/png' })).toMatchObject({
      mediaType: 'image/webp',
      width: 2048,
    })
  })

  it('shrinks until the bytes fit', async () => {
    const bytes = await photo(600, 600).png().toBuffer()
    const ref = await store({ normalizedImageMaxBytes: 20_000 }).saveImage({ bytes, declaredType: 'image/png' })
    expect(ref.bytes).toBeLessThanOrEqual(20_000)
    expect(ref.width).toBeLessThan(600)
  })

  it('converts sixteen bits to eight', async () => {
    const bytes = await sharp(await photo(8, 8).png().toBuffer())
      .toColourspace('rgb16')
      .png()
      .toBuffer()
    const ref = await store().saveImage({ bytes, declaredType: 'image/png' })
    expect((await sharp(Buffer.from(await store().read(ref))).metadata()).depth).toBe('uchar')
  })

  it.each([
    ['an empty one', async () => Buffer.alloc(0), {}, 'INVALID_IMAGE', 'Image is empty.'],
    ['no image', async () => Buffer.from('hello'), {}, 'INVALID_IMAGE', 'Unsupported or malformed image data.'],
    [
      'a cut one',
      async () => (await photo(100, 100).png().toBuffer()).subarray(0, 5000),
      {},
      'INVALID_IMAGE',
      'Unsupported or malformed image data.',
    ],
    [
      'too many bytes',
      () => drawing(9, 9).png().toBuffer(),
      { maxImageBytes: 10 },
      'IMAGE_TOO_LARGE',
      'Image exceeds the configured byte limit.',
    ],
    [
      'too many pixels',
      () => drawing(9, 9).png().toBuffer(),
      { maxImagePixels: 80 },
      'IMAGE_TOO_MANY_PIXELS',
      'Image exceeds the configured decoded-pixel limit.',
    ],
    [
      'too long a side',
      () => drawing(9, 2).png().toBuffer(),
      { maxImageDimension: 8 },
      'IMAGE_DIMENSION_TOO_LARGE',
      'Image exceeds the configured per-side pixel limit.',
    ],
    [
      'another format',
      () => drawing(9, 2).jpeg().toBuffer(),
      {},
      'IMAGE_TYPE_MISMATCH',
      'Declared image type does not match its bytes.',
    ],
  ])('refuses %s', async (_name, make, more, code, message) => {
    const bytes = await make()
    await expect(store(more).saveImage({ bytes, declaredType: 'image/png' })).rejects.toMatchObject({ code, message })
    expect(nodeFs.existsSync(join(root, 'objects'))).toBe(false)
  })

  it('stores all images of a message or none', async () => {
    const good = { bytes: await drawing(5, 5).png().toBuffer(), declaredType: 'image/png' } as const
    const bad = { bytes: Buffer.from('x'), declaredType: 'image/png' } as const
    await expect(store().saveImages([good, bad])).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
    await expect(store().saveImages([good, good, good])).rejects.toMatchObject({ code: 'TOO_MANY_IMAGES' })
    await expect(store({ maxMessageImageBytes: 10 }).saveImages([good])).rejects.toMatchObject({
      code: 'IMAGES_TOO_LARGE',
    })
    expect(nodeFs.existsSync(join(root, 'objects'))).toBe(false)
    expect(await store().saveImages([good, good])).toHaveLength(2)
  })

  it('notices what happened to an object', async () => {
    const source = { bytes: await drawing(5, 5).png().toBuffer(), declaredType: 'image/png' } as const
    const ref = await store().saveImage(source)
    await expect(store().read({ ...ref, width: 6 })).rejects.toMatchObject({ code: 'ATTACHMENT_CORRUPT' })
    await expect(store().read({ ...ref, attachmentId: '../../etc/passwd' })).rejects.toMatchObject({
      code: 'ATTACHMENT_INVALID',
    })
    nodeFs.writeFileSync(store().pathOf(ref), 'damaged')
    await expect(store().read(ref)).rejects.toMatchObject({ code: 'ATTACHMENT_CORRUPT' })
    await store().saveImage(source)
    expect(await store().read(ref)).toHaveLength(ref.bytes)
    nodeFs.unlinkSync(store().pathOf(ref))
    await expect(store().read(ref)).rejects.toMatchObject({ code: 'ATTACHMENT_MISSING' })
  })

  it('passes small images unchanged where sharp is missing, and refuses others by name', async () => {
    const alone = store({}, withoutSharp)
    for (const [format, type] of [
      ['png', 'image/png'],
      ['jpeg', 'image/jpeg'],
      ['webp', 'image/webp'],
      ['gif', 'image/gif'],
    ] as const) {
      const bytes = await photo(33, 21).toFormat(format).toBuffer()
      expect(await alone.saveImage({ bytes, declaredType: type })).toMatchObject({
        mediaType: type,
        bytes: bytes.length,
        width: 33,
        height: 21,
      })
    }
    const lossless = await photo(33, 21).webp({ lossless: true }).toBuffer()
    expect(await alone.saveImage({ bytes: lossless, declaredType: 'image/webp' })).toMatchObject({
      width: 33,
      height: 21,
    })
    const large = await drawing(3000, 10).png().toBuffer()
    await expect(alone.saveImage({ bytes: large, declaredType: 'image/png' })).rejects.toMatchObject({
      code: 'IMAGE_LIBRARY_MISSING',
      message: expect.stringContaining('sharp'),
    })
  })

  it('works on a few images at once', async () => {
    const bytes = await photo(300, 300).jpeg().toBuffer()
    const one = store()
    const refs = await Promise.all(
      Array.from({ length: 8 }, () => one.saveImage({ bytes, declaredType: 'image/jpeg' })),
    )
    expect(new Set(refs.map((ref) => ref.attachmentId)).size).toBe(1)
  })
})

describe('a display name', () => {
  it.each([
    ['/x/y.png', 'y.png'],
    ['a\\b.png', 'b.png'],
    ['a\nb\u0007.png ', 'ab.png'],
    ['', undefined],
    ['n'.repeat(300), 'n'.repeat(255)],
  ])('of %j is %j', (given, wanted) => expect(displayName(given)).toBe(wanted))
})
