import { DshError } from '@dsh/core'

export const shellErrors = {
  workdirMissing: 'SHELL_WORKDIR_MISSING',
  workdirNotADirectory: 'SHELL_WORKDIR_NOT_A_DIRECTORY',
  /** The request was cancelled before there was a process. */
  aborted: 'SHELL_ABORTED',
} as const

export function workdirMissing(path: string, cause?: unknown): DshError {
  return new DshError(shellErrors.workdirMissing, `workdir "${path}" does not exist`, { name: 'ShellError', cause })
}

export function workdirNotADirectory(path: string, cause?: unknown): DshError {
  return new DshError(shellErrors.workdirNotADirectory, `workdir "${path}" is not a directory`, {
    name: 'ShellError',
    cause,
  })
}

export function abortedBeforeSpawn(signal: AbortSignal): DshError {
  const { reason } = signal
  const text = reason instanceof Error ? reason.message : String(reason)
  return new DshError(shellErrors.aborted, `aborted before spawn: ${text}`, { name: 'ShellError', cause: reason })
}
