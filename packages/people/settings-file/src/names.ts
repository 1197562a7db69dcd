import { createHash } from 'node:crypto'
import { settingsError } from './errors.ts'

const NAMESPACE = /^[a-z][a-z0-9-]*$/

export function checkNamespace(namespace: string): void {
  if (!NAMESPACE.test(namespace)) {
    throw settingsError('SETTINGS_NAMESPACE', `"${namespace}" is no namespace: lower-case letters, digits and - only`)
  }
}

export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
