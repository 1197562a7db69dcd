import type { AttachmentRef } from '@dsh/llm'

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

export interface ImageLimits {
  /** Bytes of one source image. */
  readonly maxImageBytes: number
  readonly maxImagesPerMessage: number
  /** Bytes of all source images of one message. */
  readonly maxMessageImageBytes: number
  /** Of the decoded source. */
  readonly maxImagePixels: number
  /** Of either side of the source. */
  readonly maxImageDimension: number
  /** Of the longer side of what is stored. */
  readonly normalizedImageMaxDimension: number
  readonly normalizedImageMaxBytes: number
}

export interface ImageSource {
  readonly bytes: Uint8Array
  /** By file name or by signature; the bytes must agree. */
  readonly declaredType: ImageType
  readonly name?: string
}

/** `ctx.attachments`: images by the hash of their normalised bytes. */
export interface AttachmentStore {
  readonly limits: ImageLimits
  accepts(type: ImageType): boolean
  /** The format that the first bytes claim. */
  sniff(bytes: Uint8Array): ImageType | undefined
  /** Checks, normalises and stores. Fails with a code of `attachmentErrors`. */
  saveImage(source: ImageSource, signal?: AbortSignal): Promise<AttachmentRef>
  /** All of one message: none is stored unless all are admitted. */
  saveImages(sources: readonly ImageSource[], signal?: AbortSignal): Promise<readonly AttachmentRef[]>
  /** The stored bytes, verified against the reference. */
  read(ref: AttachmentRef): Promise<Uint8Array>
  /** The file that holds them. */
  pathOf(ref: AttachmentRef): string
}
