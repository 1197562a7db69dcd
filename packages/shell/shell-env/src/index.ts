import type { ShellEnvService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    shellEnv: ShellEnvService
  }
}
