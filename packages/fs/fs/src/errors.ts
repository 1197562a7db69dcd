import { DshError } from '@dsh/core'

/** Codes of `FsError`. `PATCH_*` belong to the patch tool, `SEARCH_*` to the search tools. */
export const fsErrors = {
  /** Absent target, blank path, a parent that is a file, an offset past the end. */
  notFound: 'FS_NOT_FOUND',
  notDirectory: 'FS_NOT_DIRECTORY',
  /** A NUL byte or invalid UTF-8. */
  notText: 'FS_NOT_TEXT',
  /** Directory, device, FIFO, socket, dangling link. */
  notRegularFile: 'FS_NOT_REGULAR_FILE',
  tooLarge: 'FS_TOO_LARGE',
  /** The host kernel refused. */
  permissionDenied: 'FS_PERMISSION_DENIED',
  /** The policy fence refused. */
  sandboxDenied: 'FS_SANDBOX_DENIED',
  /** Any other fault of the backend. */
  io: 'FS_IO_ERROR',
  stale: 'FS_STALE_VERSION',
  notObserved: 'FS_NOT_OBSERVED',
  ambiguousEdit: 'FS_AMBIGUOUS_EDIT',
  editNotFound: 'FS_EDIT_NOT_FOUND',
  aborted: 'FS_ABORTED',
} as const
export type FsErrorCode = (typeof fsErrors)[keyof typeof fsErrors]

/** `hint` holds further lines for whoever asked; a tool decides whether the model gets them. */
export function fsError(
  code: FsErrorCode,
  message: string,
  options: { readonly cause?: unknown; readonly hint?: string } = {},
): DshError {
  return new DshError(code, message, { ...options, name: 'FsError' })
}

export function throwIfAborted(signal: AbortSignal | undefined, verb: string): void {
  if (signal?.aborted) throw fsError(fsErrors.aborted, `${verb} aborted`, { cause: signal.reason })
}
