import { DshError, isDshError } from '@dsh/core'
import { fsErrors } from '@dsh/fs'
import { deniedMarker, escalationHint, type SandboxMode } from '@dsh/sandbox'

export const rereadRemedy = 're-read the file, then retry'

/** What the model reads about a mutation that failed: the first line exact, then the next step. Code and cause stay. */
export function mutationError(
  error: unknown,
  context: { readonly shown: string; readonly mode: SandboxMode | undefined; readonly hints: boolean },
): unknown {
  if (!isDshError(error)) return error
  return rephrased(error, mutationDiagnostic(error, context), context.hints)
}

export function mutationDiagnostic(
  error: DshError,
  context: { readonly shown: string; readonly mode: SandboxMode | undefined },
): string {
  switch (error.code) {
    case fsErrors.notObserved:
      return `cannot modify "${context.shown}": file has not been read — read the file, then retry`
    case fsErrors.stale:
      return `${error.message} — ${rereadRemedy}`
    case fsErrors.sandboxDenied:
      return context.mode === undefined
        ? error.message
        : `${deniedMarker(context.mode)}\n${escalationHint('operation')}`
    default:
      return error.message
  }
}

/** Appends the hint of an error to its message, or drops it. */
export function withHint(error: unknown, hints: boolean, extra?: string): unknown {
  if (!isDshError(error)) return error
  return rephrased(error, error.message, hints, extra)
}

function rephrased(error: DshError, message: string, hints: boolean, extra?: string): DshError {
  const lines = hints ? [error.hint, extra].filter((line) => line !== undefined) : []
  return new DshError(error.code, [message, ...lines].join('\n'), { name: error.name, cause: error })
}
