export interface ShellEnvContributor {
  /** `DSH_[A-Z][A-Z0-9_]*`, one owner each; DSH_HOME, DSH_SHELL and DSH_SESSION_ID are taken. */
  readonly names: readonly string[]
  readonly description: string
  collect(input: { readonly sessionId?: string; readonly sessionPath?: string }): {
    readonly [name: string]: string | undefined
  }
}
/** `ctx.shellEnv` */
export interface ShellEnvService {
  register(contributor: ShellEnvContributor): () => void
  collect(input: { readonly sessionId?: string; readonly sessionPath?: string }): { readonly [name: string]: string }
  list(): readonly { readonly name: string; readonly description: string }[]
}
