/** Host facts: provided before any row mounts. */

/** `ctx.cmdlineArgs`: what the launcher did not take for itself. */
export interface CmdlineArgs {
  get(): readonly string[]
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
