/** Where a secret comes from, strongest first. */
export type CredentialSource = 'env' | 'file' | 'project-env' | 'user-env'

/** What may be told about a reference: never its value. */
export interface CredentialDescription {
  readonly configured: boolean
  readonly source?: CredentialSource
  /** False while the launching environment supplies it: a stored value would be shadowed. */
  readonly writable: boolean
}

export type CredentialRecord =
  | { readonly kind: 'api-key'; readonly key?: string; readonly env?: string }
  | { readonly kind: 'grant'; readonly payload: unknown }

/** `ctx.credentials`. A reference is spelled like an environment variable; everything is read at use, nothing cached. */
export interface Credentials {
  resolve(reference: string): Promise<string | undefined>
  describe(reference: string): Promise<CredentialDescription>
  set(reference: string, secret: string): Promise<void>
  unset(reference: string): Promise<void>
  /** A record of another shape, by `<scope>/<id>`. */
  record(key: string): Promise<CredentialRecord | undefined>
  setRecord(key: string, record: CredentialRecord): Promise<void>
  unsetRecord(key: string): Promise<void>
}
