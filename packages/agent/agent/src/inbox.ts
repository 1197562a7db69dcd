import type { UserMessage } from '@dsh/llm'
import type { InboxTarget, Session, SessionEvent } from '@dsh/session'
import { agentError, agentErrors } from './errors.ts'

type Queues = Record<InboxTarget, UserMessage[]>

export interface InboxListener {
  inserted(target: InboxTarget, messages: readonly UserMessage[]): void
  discarded(target: InboxTarget, messages: readonly UserMessage[]): void
  claimed(messages: readonly UserMessage[]): void
}

/**
 * The two queues of an agent. Every change is an `agent/inbox/spliced` event first and takes effect in memory only
 * after that event is in the log, so that a resumed session has the same queues.
 */
export class Inbox {
  private readonly session: Session
  private readonly listener: InboxListener
  private readonly queues: Queues
  /** Prompts that were refused; they wait, visible, and are not claimed again by this process. */
  private readonly held = new Set<string>()

  /** Takes up what the log says is pending. */
  constructor(session: Session, listener: InboxListener) {
    this.session = session
    this.listener = listener
    this.queues = pendingIn(session)
  }

  pending(target: InboxTarget): readonly UserMessage[] {
    return [...this.queues[target]]
  }

  /** Whether a turn would find something to do. */
  get hasWork(): boolean {
    return this.queues['next-step'].length > 0 || this.hasPrompt
  }

  /** Whether a prompt waits that was not refused already. */
  get hasPrompt(): boolean {
    return this.queues['next-turn'].some(({ id }) => !this.held.has(id))
  }

  insert(target: InboxTarget, message: UserMessage): void {
    this.splice(target, this.queues[target].length, 0, [message])
  }

  /** Indices are normalised as `Array.prototype.splice` does; a splice that changes nothing writes no event. */
  splice(
    target: InboxTarget,
    start: number,
    removeCount: number,
    inserted: readonly UserMessage[] = [],
    outcome?: 'canceled',
  ): readonly UserMessage[] {
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(removeCount) || removeCount < 0)
      throw agentError(agentErrors.invalidSplice, 'invalid inbox splice')
    const queue = this.queues[target]
    const from = start < 0 ? Math.max(queue.length + start, 0) : Math.min(start, queue.length)
    const count = Math.min(removeCount, queue.length - from)
    this.refuseDuplicates(inserted, queue.slice(from, from + count))
    if (count === 0 && inserted.length === 0) return []

    this.session.append('agent/inbox/spliced', {
      target,
      start: from,
      ...(count === 0 ? {} : { removedCount: count }),
      inserted,
      ...(outcome === undefined ? {} : { outcome }),
    })
    const removed = queue.splice(from, count, ...inserted)
    for (const { id } of removed) this.held.delete(id)
    if (inserted.length > 0) this.listener.inserted(target, inserted)
    if (removed.length > 0 && outcome === 'canceled') this.listener.discarded(target, removed)
    return removed
  }

  /** Takes everything queued for the next step, and at the start of a turn the first prompt too. */
  claim(target: InboxTarget): readonly UserMessage[] {
    const claimed = [...this.splice('next-step', 0, this.queues['next-step'].length)]
    if (target === 'next-turn') {
      const at = this.queues['next-turn'].findIndex(({ id }) => !this.held.has(id))
      if (at >= 0) claimed.push(...this.splice('next-turn', at, 1))
    }
    if (claimed.length > 0) this.listener.claimed(claimed)
    return claimed
  }

  /** Puts claimed messages back: a person's prompts wait at the head of their queue for that person, context for the next step. */
  giveBack(messages: readonly UserMessage[]): void {
    const prompts = messages.filter(({ source }) => source.kind === 'user')
    this.splice(
      'next-step',
      0,
      0,
      messages.filter(({ source }) => source.kind !== 'user'),
    )
    this.splice('next-turn', 0, 0, prompts)
    for (const { id } of prompts) this.held.add(id)
  }

  cancel(): void {
    for (const target of ['next-step', 'next-turn'] as const)
      this.splice(target, 0, this.queues[target].length, [], 'canceled')
  }

  private refuseDuplicates(inserted: readonly UserMessage[], leaving: readonly UserMessage[]): void {
    if (inserted.length === 0) return
    const taken = new Set([...this.queues['next-turn'], ...this.queues['next-step']].map(({ id }) => id))
    for (const { id } of leaving) taken.delete(id)
    for (const { id } of inserted) {
      if (taken.has(id)) throw agentError(agentErrors.duplicateMessage, `message "${id}" is already pending`)
      taken.add(id)
    }
  }
}

/** Replays the splices of a log. A child's inherited events are its parent's queue, not its own. */
function pendingIn(session: Session): Queues {
  const queues: Queues = { 'next-turn': [], 'next-step': [] }
  for (let i = session.header.seedLength ?? 0; i < session.events.length; i++) {
    const event = session.events[i] as SessionEvent
    if (event.type === 'agent/inbox/spliced') replay(queues, event.data, event.seq)
  }
  return queues
}

function replay(
  queues: Queues,
  { target, start, removedCount = 0, inserted }: Extract<SessionEvent, { type: 'agent/inbox/spliced' }>['data'],
  seq: number,
): void {
  const queue = queues[target] as UserMessage[] | undefined
  const valid =
    queue !== undefined &&
    Number.isSafeInteger(start) &&
    Number.isSafeInteger(removedCount) &&
    start >= 0 &&
    removedCount >= 0 &&
    start + removedCount <= queue.length
  if (!valid) throw agentError(agentErrors.invalidSplice, `invalid persisted inbox splice at session seq ${seq}`)
  queue.splice(start, removedCount, ...inserted)
}
