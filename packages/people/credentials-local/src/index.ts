import { type Context, notify } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import * as z from 'zod'
import { createCredentials } from './service.ts'
import { CredentialsStore } from './store.ts'
import type { Credentials } from './types.ts'

export { checkSecret } from './names.ts'
export { CredentialsStore } from './store.ts'
export type { CredentialDescription, CredentialRecord, CredentialSource, Credentials } from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    credentials: Credentials
  }
  interface Events {
    /** A stored secret was set or removed. */
    'credentials/reference-updated'(reference: string): void
    'credentials/record-updated'(key: string): void
  }
}

export const name = 'credentials-local'

export const Config = lazySchema(() =>
  z.strictObject({
    /** Absolute path; default `.credentials.yaml` in the home. `false`: the environment is the only source. */
    file: z.union([z.string().min(1), z.literal(false)]).optional(),
    /** False: a file that cannot be used is reported, and the run goes on without it. */
    strict: z.boolean().default(true),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const file = config.file ?? ctx.dshHomePath('.credentials.yaml')
  const store = file === false ? undefined : await openStore(ctx, file, config.strict)
  const launch = ctx.get('launchEnvironment')
  ctx.provide(
    'credentials',
    createCredentials({
      store,
      environment: (variable, source) => {
        if (launch !== undefined) return launch.getFrom(variable, [source])?.value
        return source === 'process' ? process.env[variable] || undefined : undefined
      },
      warn: (error) => ctx.logger.warn(error),
      onReference: (reference) => notify(ctx, 'credentials/reference-updated', reference),
      onRecord: (key) => notify(ctx, 'credentials/record-updated', key),
    }),
  )
}

async function openStore(ctx: Context, file: string, strict: boolean): Promise<CredentialsStore | undefined> {
  const store = new CredentialsStore(file)
  try {
    await store.open()
    return store
  } catch (error) {
    if (strict) throw error
    ctx.logger.warn(error)
    return undefined
  }
}
