import type { SandboxMode, SandboxPolicy } from '@dsh/sandbox'
import type { CollectedStream } from '@dsh/subprocess'

export interface ShellRequest {
  readonly command: string
  /** Absolute, or relative to `base`. */
  readonly workdir?: string
  /** What a relative workdir resolves against: the session's current directory. */
  readonly base?: string
  readonly timeoutMs?: number
  readonly env?: { readonly [name: string]: string }
  readonly policy?: SandboxPolicy
  readonly signal?: AbortSignal
  readonly onData?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void
}
/** A request with every default filled in. */
export interface ShellSpec {
  readonly command: string
  readonly workdir: string
  readonly timeoutMs: number
  readonly timeoutClamped: boolean
  readonly env: { readonly [name: string]: string }
  readonly policy: SandboxPolicy
  readonly signal?: AbortSignal
  readonly onData?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void
}

export interface ShellSandboxFacts {
  readonly mode: SandboxMode
  readonly denied: boolean
  readonly enforcement?: 'full' | 'partial'
  /** What the rung does not cover here, as readable phrases; absent when it covers everything. */
  readonly notCovered?: readonly string[]
  readonly rung?: string
  readonly runnerFailed?: boolean
}
export interface ShellOutcome {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly timeoutMs: number
  readonly timeoutClamped: boolean
  readonly durationMs: number
  readonly stdout: CollectedStream
  readonly stderr: CollectedStream
  /** How the two streams arrived, as runs of bytes; cut after a few hundred runs. */
  readonly arrivals: readonly ShellArrival[]
  readonly sandbox?: ShellSandboxFacts
}
export type ShellArrival = readonly [stream: 'stdout' | 'stderr', bytes: number]

export interface ShellJob {
  /** Never rejects; a runner that failed is a fact of the outcome. */
  readonly done: Promise<ShellOutcome>
  readOutput(): {
    readonly stdout: string
    readonly stderr: string
    readonly dropped: boolean
    readonly spillPaths: readonly string[]
  }
  /** TERM, then KILL after the grace. */
  kill(): void
}

/** `ctx.shell` */
export interface ShellService {
  /** undefined = this executor does not confine. */
  readonly sandboxMode: SandboxMode | undefined
  /** Throws for a workdir that is absent or no directory, naming it. */
  resolve(request: ShellRequest): Promise<ShellSpec>
  /** Throws SANDBOX_UNAVAILABLE; the command has then not run. */
  run(spec: ShellSpec): Promise<ShellOutcome>
  start(spec: ShellSpec): Promise<ShellJob>
}
