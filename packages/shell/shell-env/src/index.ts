import type { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import { ShellEnv } from './service.ts'
import type { ShellEnvService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    shellEnv: ShellEnvService
  }
}

export const name = 'shell-env'

export async function apply(ctx: Context): Promise<void> {
  new ShellEnv(ctx, ctx.get('dshHomePath')?.())
}
