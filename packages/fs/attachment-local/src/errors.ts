import { DshError } from '@dsh/core'

/** Code and text of everything that can be wrong with an image or with the store. */
export const attachmentErrors = {
  INVALID_IMAGE: 'Unsupported or malformed image data.',
  IMAGE_TYPE_MISMATCH: 'Declared image type does not match its bytes.',
  IMAGE_TOO_LARGE: 'Image exceeds the configured byte limit.',
  IMAGE_TOO_MANY_PIXELS: 'Image exceeds the configured decoded-pixel limit.',
  IMAGE_DIMENSION_TOO_LARGE: 'Image exceeds the configured per-side pixel limit.',
  TOO_MANY_IMAGES: 'Image batch exceeds the configured image-count limit.',
  IMAGES_TOO_LARGE: 'Image batch exceeds the configured aggregate image-byte limit.',
  UNSUPPORTED_IMAGE_TYPE: 'Image type is not accepted by this deployment.',
  /** Only sharp could bring this image into the limits. */
  IMAGE_LIBRARY_MISSING: 'Image must be converted, and the optional package sharp is not installed.',
  ATTACHMENT_INVALID: 'Attachment reference is invalid.',
  ATTACHMENT_MISSING: 'Attachment object is missing.',
  ATTACHMENT_READ_FAILED: 'Unable to read image attachment.',
  ATTACHMENT_WRITE_FAILED: 'Unable to persist image attachment.',
  ATTACHMENT_CORRUPT: 'Stored attachment failed integrity verification.',
} as const
export type AttachmentErrorCode = keyof typeof attachmentErrors

export function attachmentError(
  code: AttachmentErrorCode,
  options: { readonly message?: string; readonly cause?: unknown } = {},
): DshError {
  return new DshError(code, options.message ?? attachmentErrors[code], {
    name: 'AttachmentError',
    cause: options.cause,
  })
}
