import { scopeTarget } from '@dsh/cordis'
import type { UserMessage } from '@dsh/llm'
import type { ToolCallInput, ToolDefinition, ToolExecution, ToolResult } from './types.ts'

/** One call on its way through the stages. */
export interface Call {
  /** What policies and the body see. Execute wrappers may put another signal here. */
  readonly exec: ToolExecution & { signal: AbortSignal }
  /** The caller's own signal, whatever a wrapper did. */
  readonly callerSignal: AbortSignal
  /** Captured at the start; undefined for a name that is not visible to the caller. */
  readonly definition: ToolDefinition | undefined
  /** Contexts that the body asked to be delivered after its result. */
  readonly deferred: UserMessage[]
  concludes: boolean
}

/** What a stage decided. `final` results skip the stages that could still replace them. */
export interface Verdict {
  readonly result: ToolResult
  readonly final: boolean
}

export function startCall(input: ToolCallInput, args: unknown, definition: ToolDefinition | undefined): Call {
  const deferred: UserMessage[] = []
  const call: Call = {
    exec: {
      callId: input.callId,
      rootCallId: input.callId,
      name: input.name,
      arguments: args,
      ...(input.agent === undefined ? {} : { agent: input.agent }),
      ...(input.turn === undefined ? {} : { turn: input.turn }),
      ...(input.step === undefined ? {} : { step: input.step }),
      ...(input.parent === undefined ? {} : { parent: input.parent }),
      signal: input.signal,
      deferContext: (message) => void deferred.push(message),
      concludeTurn: () => {
        call.concludes = true
      },
    },
    callerSignal: input.signal,
    definition,
    deferred,
    concludes: false,
  }
  return call
}

/** Events about a call reach the rows of its agent only; one without an agent reaches those that belong to nobody. */
export function targetOf({ exec }: Call): object {
  return scopeTarget(exec.agent ?? exec)
}
