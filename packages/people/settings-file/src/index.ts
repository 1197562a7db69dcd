import { existsSync } from 'node:fs'
import { type Context, notify } from '@dsh/cordis'
import type { JsonObject } from '@dsh/core'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import * as z from 'zod'
import { createSettings } from './service.ts'
import type { Settings } from './types.ts'

export type { Settings, SettingsOp, SettingsWrite } from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    settings: Settings
  }
  interface Events {
    /** This process wrote a section. */
    'settings/updated'(namespace: string, next: JsonObject | undefined, previous: JsonObject | undefined): void
    'settings/document-updated'(namespace: string, revision: string): void
  }
}

export const name = 'settings-file'

export const Config = lazySchema(() =>
  z.strictObject({
    /** Absolute path; default: `settings.yaml` in the home, or `settings.yml` or `.json` where that is what exists. */
    file: z.string().min(1).optional(),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const candidates = ['settings.yaml', 'settings.yml', 'settings.json'].map((file) => ctx.dshHomePath(file))
  const file = config.file ?? candidates.find((path) => existsSync(path)) ?? (candidates[0] as string)
  ctx.provide(
    'settings',
    createSettings({
      file,
      onSection: (namespace, next, previous, revision) => {
        notify(ctx, 'settings/updated', namespace, next, previous)
        notify(ctx, 'settings/document-updated', namespace, revision)
      },
    }),
  )
}
