import type { CmdlineArgs, HostReady, HostReload, HostRows, LaunchEnvironment, ReloadOutcome } from './types.ts'

export { audit, type Provides, skipText } from './audit.ts'
export { BootError, type BootOptions, boot, type Host } from './boot.ts'
export { LOG_LEVELS, type LogLevel } from './diagnostics.ts'
export { faultLine, type StackMark } from './fault-line.ts'
export { allMounted, type LoadModule, type MountedRow, rowFault } from './mount.ts'
export { reloadText } from './reload-text.ts'
export { createShutdown, type Shutdown } from './shutdown.ts'
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
    hostRows: HostRows
    /** Absent where nothing can be reloaded. */
    hostReload: HostReload
  }
  interface Events {
    /** The user's files changed: what came of it. */
    'host/reload'(outcome: ReloadOutcome): void
    /** A line for the person that is no session event: a diagnostic, a change taken or rejected. Unheard, it goes to stderr. */
    'host/notice'(text: string): void
  }
}
