/** Host facts: provided before any row mounts. */

/** `ctx.cmdlineArgs`: what the launcher did not take for itself. */
export interface CmdlineArgs {
  get(): readonly string[]
  /** Long names of the launcher's own options: among the app's words they stand in the wrong place. */
  readonly launcherOptions: readonly string[]
}
/** `ctx.launchEnvironment`: where an environment value came from. */
export interface LaunchEnvironment {
  get(name: string): string | undefined
  getFrom(
    name: string,
    sources: readonly EnvSource[],
  ): { readonly value: string; readonly source: EnvSource; readonly path?: string } | undefined
}
export type EnvSource = 'process' | 'project-env' | 'user-env'

/** `ctx.hostReady`: resolves after the audit; one-shot surfaces start work then, never before. */
export interface HostReady {
  wait(): Promise<void>
}

/** `ctx.hostRows`: what the composition has switched off, for a surface that must say why something is missing. */
export interface HostRows {
  disabled(): readonly { readonly id: string; readonly name: string }[]
}

export type ReloadOutcome =
  | {
      readonly ok: true
      /** Ids of the rows that were started, stopped or restarted. */
      readonly changed: readonly string[]
      /** Patches that found nothing to act on. */
      readonly notes: readonly string[]
    }
  /** Nothing changed. One line per reason. */
  | { readonly ok: false; readonly reason: string }

/** `ctx.hostReload`: for surfaces that live long. Outcomes are told by the event `host/reload`. */
export interface HostReload {
  /** From now on the user's patch files and settings are watched. One-shot surfaces never ask. */
  watch(): void
  /** Reads them again now. */
  reload(): Promise<ReloadOutcome>
}

/** One line of `dsh doctor`. */
export interface DoctorFinding {
  /** What was looked at: `node`, `ripgrep`, `profile headless`. */
  readonly check: string
  readonly status: 'ok' | 'note' | 'fail'
  readonly text: string
  /** What to do about it. */
  readonly remedy?: string
}

/** What a check may know. */
export interface DoctorEnv {
  readonly home: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** A row module may export one as `doctor`. It starts nothing and changes nothing. */
export type DoctorCheck = (env: DoctorEnv) => Promise<readonly DoctorFinding[]>
