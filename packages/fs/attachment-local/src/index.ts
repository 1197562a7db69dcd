import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import * as z from 'zod'
import { createAttachmentStore } from './store.ts'
import type { AttachmentStore } from './types.ts'

export { type AttachmentErrorCode, attachmentErrors } from './errors.ts'
export { loadSharp } from './normalize.ts'
export { createAttachmentStore, type StoreOptions } from './store.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    attachments: AttachmentStore
  }
}

export const name = 'attachment-local'

const positive = (value: number) => z.number().int().positive().default(value)

export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Default `$DSH_HOME/attachments/v1`. */
      root: z.string().min(1).optional(),
      acceptedTypes: z
        .array(z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']))
        .default(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
      maxImageBytes: positive(50 * 1024 * 1024),
      maxImagesPerMessage: positive(20),
      maxMessageImageBytes: positive(200 * 1024 * 1024),
      maxImagePixels: positive(64_000_000),
      maxImageDimension: positive(8192),
      normalizedImageMaxDimension: positive(2048),
      normalizedImageMaxBytes: positive(4 * 1024 * 1024),
      imageCompressionConcurrency: z
        .number()
        .refine(
          (given) => Number.isInteger(given) && given >= 1 && given <= 8,
          'attachment-local: imageCompressionConcurrency must be an integer from 1 through 8',
        )
        .default(2),
    })
    .prefault({}),
)
export type Config = z.output<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const { root, acceptedTypes, imageCompressionConcurrency, ...limits } = config
  const home = ctx.get('dshHomePath')
  ctx.provide(
    'attachments',
    createAttachmentStore({
      root: root ?? home?.('attachments', 'v1') ?? join(homedir(), '.dsh', 'attachments', 'v1'),
      acceptedTypes,
      limits,
      concurrency: imageCompressionConcurrency,
    }),
  )
}
