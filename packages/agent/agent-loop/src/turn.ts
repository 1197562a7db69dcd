import type { PreStepDecision } from '@dsh/agent'
import { notify, scopeTarget } from '@dsh/cordis'
import { failureOf, type UserMessage } from '@dsh/llm'
import type { AbortCause, Fold, InboxTarget, TurnEndReason } from '@dsh/session'
import type { LoopHost } from './host.ts'
import { LimitStop } from './limit-stop.ts'
import type { LimitHit } from './limits.ts'
import { runtimeContextMessage } from './runtime-context.ts'
import { runStep, type StepOutcome } from './step.ts'
import { countUse } from './turn-use.ts'
import { giveUp, untilAborted } from './until-aborted.ts'

/** Numbering goes on where the log stopped. */
export const turnCount: Fold<number> = {
  initial: () => 0,
  apply: (count, event) => (event.type === 'turn/start' ? event.data.turn : count),
}

/**
 * One turn: takes what is queued, asks the model, runs its tools, and goes on until the model has nothing more to do.
 * Tells whether another turn should follow at once. Never rejects: how it went is the `turn/end` in the log.
 */
export async function runTurn(host: LoopHost, controller: AbortController): Promise<boolean> {
  const { session, inbox } = host
  const { signal } = controller
  const turn = session.fold(turnCount) + 1
  const use = countUse(host, controller)
  let ended: TurnEndReason | undefined
  let target: InboxTarget = 'next-turn'
  let step = 0
  let claimed: readonly UserMessage[] = []

  session.append('turn/start', { turn })
  try {
    while (true) {
      signal.throwIfAborted()
      use.check()
      claimed = inbox.claim(target)
      const decision = await preStep(host, turn, step + 1, claimed, signal)
      if (decision.kind === 'reject') {
        refuse(host, turn, claimed, decision.reason)
        ended = { kind: 'blocked' }
        break
      }
      const { messages } = decision
      if (messages.length === 0 && (ended !== undefined || step === 0)) {
        ended ??= { kind: 'completed' }
        break
      }
      step++
      const outcome = await enterStep(host, { turn, step }, messages, signal, () => {
        claimed = []
      })
      use.record(outcome)
      if (ended?.kind !== 'max-tokens') ended = outcome.ended && { kind: outcome.ended }
      signal.throwIfAborted()
      if (ended !== undefined && inbox.pending('next-step').length === 0) await stopping(host, turn, signal)
      signal.throwIfAborted()
      if (ended !== undefined && inbox.pending('next-step').length === 0) break
      target = 'next-step'
    }
  } catch (error) {
    ended = failedTurn(host, turn, error, signal, use.hit)
    if (!cancelledByPerson(ended)) inbox.giveBack(claimed)
  } finally {
    use.stop()
  }
  session.append('turn/end', { turn, reason: ended })
  if (ended.kind === 'error') notify(host.ctx, scopeTarget(host.agent), 'agent/error', host.agent, ended.error)
  if (ended.kind === 'blocked') return inbox.hasPrompt
  return ended.kind !== 'error' && ended.kind !== 'aborted' && inbox.hasWork
}

/** What may enter the step: the claimed messages and the runtime context, unless a row decides otherwise. */
async function preStep(
  host: LoopHost,
  turn: number,
  step: number,
  claimed: readonly UserMessage[],
  signal: AbortSignal,
): Promise<PreStepDecision> {
  const { agent } = host
  // Asked for last: a row above may have compacted the history that the context stood in.
  const entering = () => {
    const context = runtimeContextMessage(host)
    // Context alone is no reason to ask the model anything.
    return claimed.length === 0 && step === 1 ? [] : [...claimed, ...(context === undefined ? [] : [context])]
  }
  const decision = host.ctx.waterfall(
    scopeTarget(agent),
    'agent/pre-step',
    { agent, turn, step, claimed, signal },
    async () => ({ kind: 'enter' as const, messages: entering() }),
  )
  return untilAborted(decision, signal, () => giveUp(signal))
}

async function enterStep(
  host: LoopHost,
  place: { readonly turn: number; readonly step: number },
  messages: readonly UserMessage[],
  signal: AbortSignal,
  entered: () => void,
): Promise<StepOutcome> {
  const { session } = host
  session.append('step/start', place)
  try {
    for (const message of messages) session.append('user/message', message, { surfaceOp: 'append' })
    entered()
    return await runStep(host, place, signal)
  } finally {
    session.append('step/end', place)
  }
}

/** The last chance for rows to go on: a listener may `steer()`. */
async function stopping({ ctx, agent }: LoopHost, turn: number, signal: AbortSignal): Promise<void> {
  const asked = Promise.resolve(ctx.serial(scopeTarget(agent), 'agent/turn-stopping', agent, turn))
  await untilAborted<unknown>(asked, signal, () => undefined)
}

/** The prompt goes back to its queue, where a person finds it; the log says why. */
function refuse({ session, inbox }: LoopHost, turn: number, claimed: readonly UserMessage[], reason?: string): void {
  inbox.giveBack(claimed)
  const messageIds = claimed.map(({ id }) => id)
  session.append('turn/blocked', { turn, ...(reason === undefined ? {} : { reason }), messageIds }, { ignorable: true })
}

function failedTurn(
  { session }: LoopHost,
  turn: number,
  error: unknown,
  signal: AbortSignal,
  timedOut: LimitHit | undefined,
): TurnEndReason {
  const hit = error instanceof LimitStop ? error.hit : timedOut
  if (hit !== undefined) {
    const { limit, value, max, reason } = hit
    session.append('turn/limit', { turn, limit, value, max }, { ignorable: true })
    return { kind: 'aborted', reason: { kind: 'hook', reason } }
  }
  if (signal.aborted) return { kind: 'aborted', reason: abortCause(signal.reason) }
  return { kind: 'error', error: failureOf(error) }
}

/** Whoever cancels a turn takes its prompt back too. */
function cancelledByPerson(ended: TurnEndReason): boolean {
  return ended.kind === 'aborted' && (ended.reason.kind === 'user' || ended.reason.kind === 'parent')
}

function abortCause(reason: unknown): AbortCause {
  const kind = typeof reason === 'object' && reason !== null ? (reason as { kind?: unknown }).kind : undefined
  if (kind === 'hook') return { kind, reason: String((reason as { reason?: unknown }).reason) }
  return kind === 'parent' || kind === 'disposed' ? { kind } : { kind: 'user' }
}
