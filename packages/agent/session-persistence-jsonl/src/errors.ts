import { DshError, errorText } from '@dsh/core'

/** Codes of the store; the seam's own (corrupt, unsupported, not found, fork) are in @dsh/session. */
export const storeErrors = {
  /** The log did not reach the disk; the action that waited for it must not happen. */
  SESSION_WRITE_FAILED: 'SessionPersistenceError',
  /** Another process, or another session object of this one, writes this log. */
  SESSION_LOCKED: 'SessionPersistenceError',
  /** The log was removed, or another file put in its place, while it was being written. */
  SESSION_LOG_GONE: 'SessionPersistenceError',
  SESSION_STORE: 'SessionPersistenceError',
} as const

export function storeError(code: keyof typeof storeErrors, message: string, cause?: unknown, hint?: string): DshError {
  return new DshError(code, message, {
    name: storeErrors[code],
    ...(cause === undefined ? {} : { cause }),
    ...(hint === undefined ? {} : { hint }),
  })
}

/** Says which session was not saved, and why, in one line. */
export function writeFailure(id: string, path: string, cause: unknown): DshError {
  return storeError('SESSION_WRITE_FAILED', `session "${id}" was not saved to ${path}: ${errorText(cause)}`, cause)
}
