import { DshError } from '@dsh/core'

/** Every code this seam throws, with the class name that a log carries beside it. */
export const sessionErrors = {
  /** An event broke an append rule; nothing was committed. */
  SESSION_INVALID_EVENT: 'SessionError',
  /** A listener appended to the session whose event it was hearing. */
  SESSION_REENTRANT_APPEND: 'SessionError',
  SESSION_INVALID_SEED: 'SessionError',
  SESSION_INVALID_HEADER: 'SessionError',
  SESSION_ALREADY_EXISTS: 'SessionError',
  SESSION_NOT_FOUND: 'SessionError',
  SESSION_DISPOSED: 'SessionError',
  /** A request or a log does not say what the log derives to. */
  INVARIANT: 'InvariantError',
  /** Bytes of a stored log that nothing can explain. */
  SESSION_LOG_CORRUPT: 'SessionPersistenceCorruptionError',
  /** A log that a newer program wrote. */
  SESSION_FORMAT_UNSUPPORTED: 'SessionFormatUnsupportedError',
  INVALID_BOUNDARY: 'SessionForkError',
  OPEN_TURN: 'SessionForkError',
} as const
export type SessionErrorCode = keyof typeof sessionErrors

export function sessionError(code: SessionErrorCode, message: string, cause?: unknown, hint?: string): DshError {
  return new DshError(code, message, {
    name: sessionErrors[code],
    ...(cause === undefined ? {} : { cause }),
    ...(hint === undefined ? {} : { hint }),
  })
}
