import type { CmdlineArgs, HostReady, LaunchEnvironment } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    cmdlineArgs: CmdlineArgs
    /** Ends the program with this exit code, after the rows are disposed. The first code wins. */
    appExit: (code: number) => void
    launchEnvironment: LaunchEnvironment
    /** A path below the home: `dshHomePath('sessions')`. */
    dshHomePath: (...segments: string[]) => string
    hostReady: HostReady
  }
}
