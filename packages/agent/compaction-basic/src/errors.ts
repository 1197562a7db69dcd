import { DshError } from '@dsh/core'

/** Why a compaction that somebody asked for did not happen. */
export const CompactionCode = {
  BUSY: 'COMPACTION_BUSY',
  CANCELLED: 'COMPACTION_CANCELLED',
  /** History changed while the summary was written. */
  CHANGED: 'COMPACTION_CHANGED',
  SUMMARY: 'COMPACTION_SUMMARY',
  COMMIT: 'COMPACTION_COMMIT',
  PERSISTENCE: 'COMPACTION_PERSISTENCE',
} as const

export function compactionError(
  code: (typeof CompactionCode)[keyof typeof CompactionCode],
  message: string,
  cause?: unknown,
): DshError {
  return new DshError(code, message, { name: 'CompactionError', cause })
}
