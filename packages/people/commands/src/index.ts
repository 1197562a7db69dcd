import type { Context } from '@dsh/cordis'
import { Commands } from './registry.ts'
import type { CommandsService } from './types.ts'

export { commandErrors } from './errors.ts'
export { parseCommandLine } from './line.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    commands: CommandsService
  }
}

export const name = 'commands'

export async function apply(ctx: Context): Promise<void> {
  new Commands(ctx)
}
