import { randomUUID } from 'node:crypto'
import { noOpenTurn } from './errors.ts'
import type { ApprovalAnswer, ApprovalOutcome, ApprovalPolicy, ApprovalRequest } from './types.ts'

export interface Answered {
  readonly outcome: ApprovalOutcome
  readonly note?: string
}

export interface AskHost {
  readonly policy: ApprovalPolicy
  /** The answerers; undefined when there is none. */
  readonly answer: (request: ApprovalRequest & { readonly id: string }) => Promise<ApprovalAnswer>
  /** An answerer failed; the person who runs the host should know. */
  readonly report: (error: unknown) => void
}

/**
 * One question, between its two log events. Whatever goes wrong on the way to a person is a refusal; a request whose
 * events cannot be logged rejects, so that nothing is ever allowed without a record.
 */
export async function ask(request: ApprovalRequest, host: AskHost): Promise<Answered> {
  const { session } = request.agent
  if (session.openTurn === undefined) throw noOpenTurn(request.toolName)
  const id = randomUUID()
  session.append('approval/asked', {
    id,
    toolName: request.toolName,
    ...(request.callId === undefined ? {} : { callId: request.callId }),
    ...(request.reason === undefined ? {} : { reason: request.reason }),
  })
  const answered = await decide({ ...request, id }, host)
  session.append('approval/decided', { id, outcome: answered.outcome })
  return answered
}

async function decide(request: ApprovalRequest & { readonly id: string }, host: AskHost): Promise<Answered> {
  const { signal } = request
  if (signal?.aborted === true) return { outcome: 'cancelled' }
  if (host.policy === 'never') return { outcome: 'rejected' }
  const answer = answerOf(request, host)
  if (signal === undefined) return answer
  let stop: () => void = () => {}
  const cancelled = new Promise<Answered>((resolve) => {
    stop = () => resolve({ outcome: 'cancelled' })
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([answer, cancelled])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function answerOf(request: ApprovalRequest & { readonly id: string }, host: AskHost): Promise<Answered> {
  try {
    return normalise(await host.answer(request))
  } catch (error) {
    host.report(error)
    return { outcome: 'unavailable' }
  }
}

const outcomes: readonly unknown[] = [
  'allowed-once',
  'rejected',
  'cancelled',
  'unavailable',
] satisfies ApprovalOutcome[]

/** Anything outside the vocabulary counts as no answer. */
function normalise(answer: unknown): Answered {
  const { outcome, note } = (typeof answer === 'object' && answer !== null ? answer : { outcome: answer }) as {
    outcome: unknown
    note?: unknown
  }
  if (!outcomes.includes(outcome)) return { outcome: 'unavailable' }
  return { outcome: outcome as ApprovalOutcome, ...(typeof note === 'string' && note !== '' ? { note } : {}) }
}
