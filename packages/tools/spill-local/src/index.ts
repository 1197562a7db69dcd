import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import * as z from 'zod'
import { FileSpillStore } from './store.ts'
import type { SpillStore } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    spillStore: SpillStore
  }
}

export const name = 'spill-local'
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Where the files go; default `$DSH_HOME/spill`, which commands inside the sandbox can read. */
      root: z.string().min(1).optional(),
      /** Whether this run's files end with it. A resumed session still names them, so they stay until they are old. */
      removeAtExit: z.boolean().default(false),
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const home = ctx.get('dshHomePath')
  const root = config.root ?? home?.('spill') ?? mkdtempSync(join(tmpdir(), 'dsh-spill-'))
  const store = new FileSpillStore(root)
  ctx.effect(() => {
    store.removeOld().catch((error: unknown) => ctx.logger.warn(error))
    return () => (config.removeAtExit ? store.removeOwn() : undefined)
  })
  ctx.provide('spillStore', { saveText: (request) => store.save(request) })
}
