import type { AttachmentRef } from '@dsh/llm'
import { getCapabilities, Image } from '@mariozechner/pi-tui'
import type { Theme } from '../theme.ts'

export type ReadPicture = (ref: AttachmentRef) => Promise<Uint8Array>

export interface Pictures {
  /** The lines of a picture: drawn where the terminal can, else one line that names it. */
  render(ref: AttachmentRef, width: number): string[]
}

const maxKept = 20

/** Pictures of tool results. The bytes are read once they are first drawn; `loaded` then asks for another frame. */
export function createPictures(theme: Theme, read: ReadPicture, loaded: (ref: AttachmentRef) => void): Pictures {
  const images = new Map<string, Image | undefined>()
  const named = (ref: AttachmentRef) => [
    theme.dim(`${ref.name ?? 'picture'}: ${ref.mediaType}, ${ref.width}×${ref.height}`),
  ]
  return {
    render(ref, width) {
      if (getCapabilities().images === null || width < 10) return named(ref)
      if (!images.has(ref.attachmentId)) {
        images.set(ref.attachmentId, undefined)
        read(ref).then(
          (bytes) => {
            const size = { widthPx: ref.width, heightPx: ref.height }
            const data = Buffer.from(bytes).toString('base64')
            images.set(
              ref.attachmentId,
              new Image(data, ref.mediaType, { fallbackColor: theme.dim }, { maxWidthCells: 60 }, size),
            )
            if (images.size > maxKept) images.delete(images.keys().next().value as string)
            loaded(ref)
          },
          () => undefined,
        )
      }
      return images.get(ref.attachmentId)?.render(width) ?? named(ref)
    },
  }
}
