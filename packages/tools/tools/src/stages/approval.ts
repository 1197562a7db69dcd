import { assertNever } from '@dsh/core'
import type { ApprovalService } from '@dsh/user-approval'
import type { Call } from '../call.ts'
import { abortedBeforeDispatch } from '../errors.ts'

/** Why the call may not run; undefined only when a person allowed it, just now, for this call. */
export async function askPerson(
  approval: ApprovalService | undefined,
  { exec, callerSignal }: Call,
  reason: string | undefined,
): Promise<Error | undefined> {
  const tool = `tool "${exec.name}"`
  if (approval === undefined) return new Error(reason ?? `${tool} requires approval (not yet supported)`)
  if (exec.agent === undefined)
    return new Error(`${tool} requires approval, but the call has no agent to route it through`)
  const { outcome, note } = await approval.ask({
    agent: exec.agent,
    toolName: exec.name,
    callId: exec.callId,
    ...(reason === undefined ? {} : { reason }),
    subject: subjectOf(exec.arguments),
    signal: callerSignal,
  })
  switch (outcome) {
    case 'allowed-once':
      return undefined
    case 'rejected':
      return new Error(`the user rejected ${tool}${note === undefined ? '' : `\n${note}`}`)
    case 'cancelled':
      return callerSignal.aborted ? abortedBeforeDispatch() : new Error(`approval for ${tool} was cancelled`)
    case 'unavailable':
      return new Error(`${tool} requires approval, but no approval channel is available`)
    default:
      return assertNever(outcome)
  }
}

/** What a person should see before saying yes: the exact command or path, where the tool has one. */
function subjectOf(args: unknown): { command?: string; path?: string } {
  if (typeof args !== 'object' || args === null) return {}
  const { command, path, file_path: filePath } = args as Record<string, unknown>
  const shownPath = typeof path === 'string' ? path : filePath
  return {
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof shownPath === 'string' ? { path: shownPath } : {}),
  }
}
