import { DshError } from '@dsh/core'

export const searchErrors = {
  /** ripgrep does not accept the pattern. */
  invalidPattern: 'SEARCH_INVALID_PATTERN',
  failed: 'SEARCH_FAILED',
  overflow: 'SEARCH_RAW_OUTPUT_OVERFLOW',
  aborted: 'SEARCH_ABORTED',
} as const

export function searchError(
  code: (typeof searchErrors)[keyof typeof searchErrors],
  message: string,
  cause?: unknown,
): DshError {
  return new DshError(code, message, { name: 'SearchError', cause })
}
