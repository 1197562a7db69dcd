import { DshError } from '@dsh/core'
import type { SandboxMode } from './types.ts'

export const sandboxErrors = {
  /** No rung of the ladder is usable, or the runner failed before the command started. The command has not run. */
  unavailable: 'SANDBOX_UNAVAILABLE',
  /** The working directory exists, but not inside the confinement. */
  workdirHidden: 'SANDBOX_WORKDIR_HIDDEN',
} as const

/** `detail` is the runner's own complaint, when there was a runner. */
export function sandboxUnavailable(
  mode: SandboxMode,
  options: { readonly detail?: string; readonly hint?: string; readonly cause?: unknown } = {},
): DshError {
  const detail = options.detail === undefined ? '' : ` Runner failure: ${options.detail}`
  return new DshError(
    sandboxErrors.unavailable,
    `sandbox mode "${mode}" is requested but no sandbox backend is usable on this host; refusing to run the command unconfined. Install bubblewrap or run a Landlock-enforcing kernel (Linux), ensure sandbox-exec is usable (macOS), or ensure the ACL restricted-token runner can start (Windows) — otherwise switch the consumer to danger-full-access.${detail}`,
    { name: 'SandboxUnavailableError', hint: options.hint, cause: options.cause },
  )
}

export function workdirHidden(workdir: string): DshError {
  return new DshError(sandboxErrors.workdirHidden, `workdir "${workdir}" is not available inside the sandbox`, {
    name: 'SandboxError',
  })
}
