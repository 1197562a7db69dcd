/** What the rungs need to know beyond a request. */
export interface SandboxSettings {
  readonly tmp: 'host' | 'fresh' | 'session'
  /** Sockets that commands may use, or directories of such. */
  readonly sockets: readonly string[]
  /** dsh's home, canonical; absent = nothing is remembered. */
  readonly home: string | undefined
  /** The person's home directory, canonical. */
  readonly userHome: string
  /** Where a probe makes its directories. */
  readonly scratch: string
  /** A POSIX shell for the probe. */
  readonly shell: string
  readonly probeTimeoutMs: number
}
