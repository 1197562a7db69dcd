import type { Call } from '../call.ts'
import type { ToolExecution } from '../types.ts'

export type Guard = (exec: ToolExecution) => string | undefined

/** The first guard that gives a reason denies the call; no guard can allow what another one denies. */
export function runGuards(guards: readonly Guard[], { exec }: Call): string | undefined {
  for (const guard of guards) {
    const reason = guard(exec)
    if (typeof reason === 'string') return reason
  }
  return undefined
}
