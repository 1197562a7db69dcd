import type { SandboxMode } from './types.ts'

/** What an escalation is asked for: a shell command, or one operation of a file tool. */
export type EscalationNoun = 'command' | 'operation'

export function deniedMarker(mode: SandboxMode): string {
  return `[sandbox: file access denied under ${mode} mode]`
}

/** The line after a denial marker, where escalation is advertised. */
export function escalationHint(noun: EscalationNoun): string {
  return `[sandbox: escalation available — retry this exact ${noun} once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]`
}

/** For a background read after the runner itself failed. */
export function runnerFailedMarker(mode: SandboxMode): string {
  return `[sandbox: the sandbox runner itself failed under ${mode} mode — the command did not run; this is a sandbox problem, not a command failure]`
}
