import type { AttachmentRef } from '@dsh/llm'
import { attachmentError } from './errors.ts'
import { readImageHeader, sniffImageType } from './header.ts'
import { loadSharp, type NormalizedImage, normalizeImage } from './normalize.ts'
import { ObjectStore } from './object-store.ts'
import type { AttachmentStore, ImageLimits, ImageSource, ImageType } from './types.ts'

export interface StoreOptions {
  readonly root: string
  readonly limits: ImageLimits
  readonly acceptedTypes: readonly ImageType[]
  /** Images in work at once. */
  readonly concurrency: number
  readonly library?: typeof loadSharp
}

export function createAttachmentStore(options: StoreOptions): AttachmentStore {
  const { limits, acceptedTypes, library = loadSharp } = options
  const objects = new ObjectStore(options.root)
  const slots = limiter(options.concurrency)

  async function prepare(source: ImageSource, signal: AbortSignal | undefined): Promise<NormalizedImage> {
    if (!acceptedTypes.includes(source.declaredType))
      throw attachmentError('UNSUPPORTED_IMAGE_TYPE', {
        message: `Image type ${source.declaredType} is not accepted by this deployment.`,
      })
    return await slots(async () => {
      signal?.throwIfAborted()
      return await normalizeImage(source.bytes, source.declaredType, limits, await library())
    })
  }

  async function persist(source: ImageSource, image: NormalizedImage): Promise<AttachmentRef> {
    const { bytes, type, width, height, original } = image
    const shrunk = original.width !== width || original.height !== height
    const name = displayName(source.name)
    return {
      attachmentId: await objects.put(bytes),
      mediaType: type,
      bytes: bytes.length,
      width,
      height,
      ...(name === undefined ? {} : { name }),
      ...(shrunk ? { originalDimensions: original } : {}),
    }
  }

  const store: AttachmentStore = {
    limits,
    accepts: (type) => acceptedTypes.includes(type),
    sniff: sniffImageType,
    async saveImage(source, signal) {
      return await persist(source, await prepare(source, signal))
    },
    async saveImages(sources, signal) {
      if (sources.length > limits.maxImagesPerMessage) throw attachmentError('TOO_MANY_IMAGES')
      const total = sources.reduce((sum, source) => sum + source.bytes.length, 0)
      if (total > limits.maxMessageImageBytes) throw attachmentError('IMAGES_TOO_LARGE')
      const images = await Promise.all(sources.map((source) => prepare(source, signal)))
      return await Promise.all(images.map((image, index) => persist(sources[index] as ImageSource, image)))
    },
    async read(ref) {
      const bytes = await objects.get(ref.attachmentId)
      const header = readImageHeader(bytes)
      const same =
        header?.type === ref.mediaType &&
        header.width === ref.width &&
        header.height === ref.height &&
        bytes.length === ref.bytes
      if (!same)
        throw attachmentError('ATTACHMENT_CORRUPT', {
          message: 'Stored attachment metadata does not match its reference.',
        })
      return bytes
    },
    pathOf: (ref) => objects.pathOf(ref.attachmentId),
  }
  return store
}

function limiter(most: number): <T>(job: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (job) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await job()
    } finally {
      // The slot goes to the next in line, or is free again.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

const nameMax = 255

/** The last part of a name, without control characters; undefined when nothing is left. */
export function displayName(name: string | undefined): string | undefined {
  const last = name?.split(/[/\\]/).at(-1) ?? ''
  const clean = last
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(0, nameMax)
  return clean === '' ? undefined : clean
}
