import type { ShellService } from './types.ts'

export { abortedBeforeSpawn, shellErrors, workdirMissing, workdirNotADirectory } from './errors.ts'
export { signalOfExitCode } from './signals.ts'
export type * from './types.ts'
export { resolveWorkdir } from './workdir.ts'

declare module '@dsh/cordis' {
  interface Context {
    shell: ShellService
  }
}
