import { setMaxListeners } from 'node:events'
import { type Agent, type AgentOptions, agentError, agentErrors, Inbox, userMessage } from '@dsh/agent'
import { type Context, notify, type Scope, scopeTarget } from '@dsh/cordis'
import type { UserMessage } from '@dsh/llm'
import type { AbortCause, InboxTarget, Session } from '@dsh/session'
import type { LoopHost } from './host.ts'
import { runTurn } from './turn.ts'
import { untilAborted } from './until-aborted.ts'

/** What the composition gives to every agent. */
export interface LoopServices extends Pick<LoopHost, 'ctx' | 'llm' | 'tools' | 'systemPrompt'> {
  readonly maxParallelToolCalls: () => number
  readonly defaultLimits: AgentOptions['limits']
  readonly spentUsd: (session: Session) => number | undefined
  /** After the last turn, before the session closes: everything on disk. */
  readonly release: (session: Session) => Promise<void>
}

interface Activity {
  readonly kind: 'turns' | 'maintenance'
  controller: AbortController
  readonly done: Promise<void>
}

/** One driver per agent: at most one turn or one maintenance job at a time. */
export class LoopAgent implements Agent {
  readonly id: string
  readonly session: Session
  private readonly services: LoopServices
  private readonly inbox: Inbox
  private readonly lifetime = new AbortController()
  private readonly choice: LoopHost['choice']
  /** What the session had cost before this agent; its budget is its own. */
  private readonly costBefore: number
  private scope: Scope | undefined
  private current: AgentOptions
  private activity: Activity | undefined
  /** Work that arrived too late for the activity that is ending; it starts the next one. */
  private latched = false
  private disposal: Promise<void> | undefined

  constructor(session: Session, options: AgentOptions, services: LoopServices) {
    this.id = options.id ?? session.id
    this.session = session
    this.services = services
    this.current = options
    this.costBefore = services.spentUsd(session) ?? 0
    const { provider, model, maxTokens, reasoningEffort } = options
    this.choice = {
      pending: present({ provider, model, maxTokens, reasoningEffort }),
      announced: false,
    }
    const tell = (name: 'agent/inbox/inserted' | 'agent/inbox/discarded') => {
      return (target: InboxTarget, messages: readonly UserMessage[]) =>
        notify(services.ctx, scopeTarget(this), name, this, target, messages)
    }
    this.inbox = new Inbox(session, {
      inserted: tell('agent/inbox/inserted'),
      discarded: tell('agent/inbox/discarded'),
      claimed: (messages) => notify(services.ctx, scopeTarget(this), 'agent/inbox/claimed', this, messages),
    })
  }

  /** The scope needs the agent as its owner, so it comes second. */
  attach(scope: Scope): void {
    this.scope = scope
  }

  get ctx(): Context {
    if (this.scope === undefined) throw agentError(agentErrors.disposed, `agent "${this.id}" has no scope yet`)
    return this.scope.ctx
  }
  get status(): 'idle' | 'running' {
    return this.activity === undefined ? 'idle' : 'running'
  }
  get options(): AgentOptions {
    return this.current
  }
  get signal(): AbortSignal {
    return this.lifetime.signal
  }

  followup(message: UserMessage | string): UserMessage {
    return this.wakeWith(message, 'next-turn')
  }

  steer(message: UserMessage | string): UserMessage {
    return this.wakeWith(message, 'next-step')
  }

  inject(message: UserMessage): void {
    this.send(message, 'next-step', false)
  }

  send(message: UserMessage, target: InboxTarget, wakeup: boolean): void {
    if (this.disposal !== undefined) throw agentError(agentErrors.disposed, `agent "${this.id}" is disposed`)
    const ending = wakeup && this.activity?.controller.signal.aborted === true
    this.inbox.insert(ending ? 'next-turn' : target, message)
    if (!wakeup) return
    if (this.activity === undefined) this.startTurns()
    else if (ending || this.activity.kind === 'maintenance') this.latched = true
  }

  pending(target: InboxTarget): readonly UserMessage[] {
    return this.inbox.pending(target)
  }

  cancel(cause: AbortCause, options: { readonly keepInbox?: boolean } = {}): void {
    if (options.keepInbox !== true) {
      this.inbox.cancel()
      this.latched = false
    }
    this.activity?.controller.abort(cause)
  }

  async whenIdle(): Promise<void> {
    while (this.activity !== undefined) await this.activity.done
  }

  async runMaintenance<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.disposal !== undefined) throw agentError(agentErrors.disposed, `agent "${this.id}" is disposed`)
    if (this.activity !== undefined) throw agentError(agentErrors.busy, `agent "${this.id}" already has active work`)
    const controller = new AbortController()
    const work = Promise.resolve().then(() => job(controller.signal))
    this.begin(
      'maintenance',
      controller,
      untilAborted<unknown>(work, controller.signal, () => undefined),
    )
    // Whoever awaits the job finds the agent idle again.
    return (this.activity as Activity | undefined)?.done.then(() => work) ?? work
  }

  configure(change: Pick<AgentOptions, 'provider' | 'model' | 'reasoningEffort' | 'limits'>): void {
    const { limits, ...choice } = change
    this.current = { ...this.current, ...present(choice), ...(limits === undefined ? {} : { limits }) }
    this.choice.pending = { ...this.choice.pending, ...present(choice) }
  }

  dispose(): Promise<void> {
    this.disposal ??= this.close()
    return this.disposal
  }

  private async close(): Promise<void> {
    this.latched = false
    this.cancel({ kind: 'disposed' }, { keepInbox: true })
    await this.whenIdle()
    this.lifetime.abort({ kind: 'disposed' } satisfies AbortCause)
    await this.scope?.dispose()
    await this.services.release(this.session)
  }

  private wakeWith(message: UserMessage | string, target: InboxTarget): UserMessage {
    const whole = typeof message === 'string' ? userMessage(message) : message
    this.send(whole, target, true)
    return whole
  }

  private startTurns(): void {
    const controller = turnController()
    // The caller may stand in the middle of an append; the turn starts after it.
    this.begin(
      'turns',
      controller,
      Promise.resolve().then(() => this.drive()),
    )
  }

  private async drive(): Promise<void> {
    while (await runTurn(this.host(), (this.activity as Activity).controller)) {
      if (this.disposal !== undefined) return
      ;(this.activity as Activity).controller = turnController()
    }
  }

  private begin(kind: Activity['kind'], controller: AbortController, work: Promise<unknown>): void {
    const done = work.then(
      () => this.settle(),
      (error: unknown) => {
        if (kind === 'turns') this.services.ctx.logger.error(error)
        this.settle()
      },
    )
    this.activity = { kind, controller, done }
    this.announce()
  }

  private settle(): void {
    this.activity = undefined
    const again = this.latched && this.disposal === undefined && this.inbox.hasWork
    this.latched = false
    if (again) this.startTurns()
    else this.announce()
  }

  private announce(): void {
    notify(this.services.ctx, scopeTarget(this), 'agent/status', this, this.status)
  }

  private host(): LoopHost {
    const { ctx, llm, tools, systemPrompt, maxParallelToolCalls, defaultLimits, spentUsd } = this.services
    return {
      ctx,
      agent: this,
      session: this.session,
      inbox: this.inbox,
      llm,
      tools,
      systemPrompt,
      limits: { ...defaultLimits, ...this.current.limits },
      maxParallelToolCalls: maxParallelToolCalls(),
      choice: this.choice,
      spentUsd: () => {
        const spent = spentUsd(this.session)
        return spent === undefined ? undefined : spent - this.costBefore
      },
    }
  }
}

/** Without the keys that have no value. */
function present<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never
}

/** Every parallel call of a turn listens to its signal; Node would warn about the eleventh listener. */
function turnController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
