import { credentialsError } from './errors.ts'
import type { CredentialRecord } from './types.ts'

export interface CredentialsDocument {
  readonly refs: ReadonlyMap<string, string>
  readonly records: ReadonlyMap<string, CredentialRecord>
}

export const emptyDocument: CredentialsDocument = { refs: new Map(), records: new Map() }

export const SECTIONS = ['version', 'refs', 'records']
export const REFERENCE = /^[A-Za-z_][A-Za-z0-9_]*$/
export const RECORD_KEY = /^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*$/

export function checkReference(reference: string): void {
  if (!REFERENCE.test(reference)) {
    throw credentialsError('CREDENTIALS_REFERENCE', `"${reference}" is no reference: letters, digits and _ only`)
  }
}

/** A secret goes into a header line: what was pasted with a line break or a blank in it is no whole secret. */
export function checkSecret(reference: string, secret: string): void {
  const fault =
    secret === ''
      ? 'is empty'
      : /\s/.test(secret)
        ? 'has blanks or line breaks in it'
        : /[^\x21-\x7e]/.test(secret)
          ? 'has characters in it that no key has'
          : undefined
  if (fault !== undefined)
    throw credentialsError('CREDENTIALS_INVALID', `the secret for "${reference}" ${fault}; nothing was stored`)
}

export function checkRecordKey(key: string): void {
  if (!RECORD_KEY.test(key)) {
    throw credentialsError('CREDENTIALS_REFERENCE', `"${key}" is no record key: <scope>/<id> in lower case`)
  }
}
