export interface SpawnSpec {
  /** argv[0] is absolute or found by `resolveExecutable`. No shell in between. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** Written to stdin, then closed; absent = /dev/null. */
  readonly stdin?: string
  /** Bytes kept in memory per stream (the tail); the first overflow opens a capture file with everything. */
  readonly maxOutputBytes: number
  /** A capture file that would grow past this is deleted. */
  readonly maxSpillBytes: number
  /** Directory for capture files (0700). */
  readonly captureDir?: string
  /** TERM to KILL, and the wait for pipes that a descendant holds open. */
  readonly graceMs: number
  /** Which end of an over-long stream memory keeps: `tail` (default) or `head`. */
  readonly keep?: 'tail' | 'head'
  /** An extra pipe at this descriptor whose text is collected: a sandbox runner's report. Such a runner leaves nobody behind. */
  readonly statusFd?: number
  /** Called with every chunk as it arrives, for surfaces. The bytes are the receiver's to keep. */
  readonly onData?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void
  /**
   * What the process leaves running in sessions of its own ends with this program too (Linux). It is found by a
   * variable in its environment, `DSH_RUN`; what sits in a PID namespace of a sandbox needs none of this.
   */
  readonly endDetached?: boolean
  /** Where TERM goes first, when known (the command inside a sandbox runner). */
  readonly innerPid?: (status: string) => number | undefined
}

export interface CollectedStream {
  readonly text: string
  readonly bytes: number
  readonly truncated: boolean
  /** The capture file, when one was kept. */
  readonly spillPath?: string
}

/** Independent facts of a settled process. `exitCode` null = signal death. */
export interface SettledProcess {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: CollectedStream
  readonly stderr: CollectedStream
  readonly status: string
  readonly durationMs: number
}

export interface RunningProcess {
  readonly pid: number
  readonly done: Promise<SettledProcess>
  /** What arrived since the last read, for background jobs. */
  readDelta(): {
    readonly stdout: string
    readonly stderr: string
    readonly dropped: boolean
    readonly spillPaths: readonly string[]
  }
  /** TERM, then KILL after the grace; resolves when the whole group is gone. */
  terminate(): Promise<void>
}

/** `ctx.subprocess` */
export interface SubprocessService {
  /** Rejects with the system error when the program or the directory is missing. */
  spawn(spec: SpawnSpec): Promise<RunningProcess>
  /** Absolute path found on `PATH` once at start, skipping directories inside `avoid` roots. */
  resolveExecutable(name: string, avoid?: readonly string[]): string | undefined
  /** The parent environment without secrets and `DSH_*` (the closed list is published by `scrubbed`). */
  baseEnv(): { readonly [name: string]: string }
  /**
   * Variables for a process that is started by other means than `spawn`: whatever carries them in its environment ends
   * with this program (Linux).
   */
  detachedMark(): { readonly [name: string]: string }
  /** Names removed by `baseEnv` on this machine. */
  scrubbed(): readonly string[]
}
