import { DshError } from '@dsh/core'

export type CredentialsCode =
  | 'CREDENTIALS_INVALID'
  | 'CREDENTIALS_EXPOSED'
  | 'CREDENTIALS_SHADOWED'
  | 'CREDENTIALS_REFERENCE'
  | 'CREDENTIALS_NO_FILE'

export function credentialsError(code: CredentialsCode, message: string, hint?: string): DshError {
  return new DshError(code, `credentials-local: ${message}`, {
    name: 'CredentialsError',
    ...(hint === undefined ? {} : { hint }),
  })
}
