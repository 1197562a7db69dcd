import type { SubprocessService } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    subprocess: SubprocessService
  }
}
