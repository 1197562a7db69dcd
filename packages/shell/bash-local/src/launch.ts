import type { ShellSandboxFacts, ShellSpec } from '@dsh/shell'
import type { SettledProcess } from '@dsh/subprocess'

/** What became of the command, once the process that ran it is gone. */
export interface Verdict {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly sandbox?: ShellSandboxFacts
  /** Set when the command never ran: what a foreground call throws. */
  readonly failure?: Error
}

/** One command, ready to spawn. */
export interface Launch {
  readonly argv: readonly string[]
  /** Set where the command's environment has no value of its own. */
  readonly env?: { readonly [name: string]: string }
  /** Nothing else ends what the command leaves running in a session of its own. */
  readonly endDetached?: boolean
  readonly statusFd?: number
  readonly innerPid?: (status: string) => number | undefined
  /** `stopped`: the executor itself ended the process. */
  judge(settled: SettledProcess, stopped: boolean): Verdict
  /** What a failed spawn means. */
  spawnFailed(error: unknown): Error
}

/** Turns a command into a launch: the difference between a confining executor and one that does not. */
export type Launcher = (argv: readonly string[], spec: ShellSpec) => Promise<Launch>

export const launchPlain: Launcher = async (argv) => ({
  argv,
  endDetached: true,
  judge: ({ exitCode, signal }) => ({ exitCode, signal }),
  spawnFailed: (error) => (error instanceof Error ? error : new Error(String(error))),
})
