import type { ShellService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    shell: ShellService
  }
}
