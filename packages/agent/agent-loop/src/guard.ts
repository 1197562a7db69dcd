import type { GenerateOptions } from '@dsh/llm'
import { invariant, type Session, verifyDispatch, verifyDispatchFully } from '@dsh/session'

/** The loop's own requests say what the log says, or they do not leave. What was verified is logged. */
export function guardDispatch(session: Session | undefined, options: GenerateOptions, mode: 'digest' | 'full'): void {
  if (options.purpose !== undefined || session === undefined) return
  const verify = mode === 'full' ? verifyDispatchFully : verifyDispatch
  session.append('request/digest', verify(session, options), { ignorable: true })
}

const frozenWrite = /read only property|not extensible|Cannot (?:delete|redefine|define) property/

/** A row that writes into what the log froze meets the engine's own error; this says what it did wrong. */
export function nameFrozenWrite(error: unknown): unknown {
  if (!(error instanceof TypeError) || !frozenWrite.test(error.message)) return error
  return invariant(`a row tried to change a logged request (${error.message})`)
}
