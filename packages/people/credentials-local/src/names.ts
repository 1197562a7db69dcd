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

export function checkRecordKey(key: string): void {
  if (!RECORD_KEY.test(key)) {
    throw credentialsError('CREDENTIALS_REFERENCE', `"${key}" is no record key: <scope>/<id> in lower case`)
  }
}
