import type { Session } from '@dsh/session'

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

/** What one call may touch. `workspaceRoot` is canonical and absolute. */
export interface SandboxPolicy {
  readonly mode: SandboxMode
  readonly workspaceRoot: string
  readonly sessionId?: string
  /** `none` cuts the network where the rung can; default `shared`. */
  readonly network?: 'shared' | 'none'
  /** Canonical directories that workspace-write may change besides the root and the temporary directories. */
  readonly writableRoots?: readonly string[]
  /** Absolute paths that stay read-only inside a writable directory. */
  readonly protectedPaths?: readonly string[]
  /** Absolute paths that tools do not read: credentials, and what a person lists. */
  readonly hiddenPaths?: readonly string[]
}

/** `ctx.sandboxPolicy` */
export interface SandboxPolicyService {
  readonly defaultMode: SandboxMode
  readonly workspaceRoot: string
  /** mode = given ?? the session's last `sandbox/mode` ?? the default; root = the session's cwd ?? configured ?? process cwd. */
  resolve(request?: { readonly session?: Session; readonly mode?: SandboxMode }): SandboxPolicy
  overrideOf(session: Session): SandboxMode | undefined
}

export interface ConfineRequest {
  /** argv[0] is absolute. */
  readonly argv: readonly string[]
  readonly policy: SandboxPolicy
  /** The directory the command starts in; absolute, existing. */
  readonly cwd: string
}

/** How to run a command confined, and how to tell afterwards what happened. */
export interface ConfinedCommand {
  readonly argv: readonly string[]
  /** Extra file descriptors the child gets (3, 4, …): the runner reports its status there. */
  readonly statusFd?: number
  /**
   * Reads what came over the status descriptor. `ran: false` = the command itself never started; to be believed only
   * of a runner that exited by itself (a runner killed early reports nothing either).
   */
  readonly readStatus?: (bytes: string) => {
    readonly ran: boolean
    readonly exitCode?: number
    readonly innerPid?: number
  }
  /** Set in the command's environment where it has no value of its own: caches of package managers, and the like. */
  readonly env?: { readonly [name: string]: string }
  readonly enforcement: 'full' | 'partial'
  /** What this rung does not cover here, as readable phrases. */
  readonly notCovered: readonly string[]
  readonly rung: string
  /** Lower-case stderr fragments that, with a non-zero exit, mean a denied file access. */
  readonly denialSignatures: readonly string[]
  /** Maps the runner's exit code to a signal death of the inner command (128+n), where the rung does that. */
  readonly mapsSignalsToExitCodes: boolean
  /** To be called when `readStatus` said that the command never ran: the next request probes the machine again. */
  readonly runnerFailed?: () => void
}

/** `ctx.sandbox` */
export interface SandboxService {
  /** Throws SANDBOX_UNAVAILABLE when no rung is usable; never returns an unconfined command. */
  confine(request: ConfineRequest): Promise<ConfinedCommand>
  /** What the ladder found, for `dsh doctor` and surfaces. It stops at the first rung that holds, unless `all` are asked for. */
  report(options?: { readonly all?: boolean }): Promise<SandboxReport>
}

export interface SandboxReport {
  readonly rung: string | undefined
  readonly enforcement: 'full' | 'partial' | 'none'
  readonly notCovered: readonly string[]
  /** What bounds the resources of confined commands, in words; absent = nobody looked. */
  readonly limits?: string
  /** One line per rung tried: its name, whether it is usable, and why not. */
  readonly tried: readonly { readonly rung: string; readonly usable: boolean; readonly detail: string }[]
}
