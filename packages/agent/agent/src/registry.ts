import { type Context, notify, Service, scopeTarget } from '@dsh/cordis'
import type { Session } from '@dsh/session'
import { agentError, agentErrors } from './errors.ts'
import type { Agent, AgentFactory, AgentOptions, AgentsService } from './types.ts'

/** Who is alive. The registry knows nothing about models: a loop row brings the factory. */
export class Agents extends Service implements AgentsService {
  private readonly live = new Map<string, Agent>()
  private factory: AgentFactory | undefined
  private readonly home: Context

  constructor(ctx: Context) {
    super(ctx, 'agents')
    this.home = ctx
  }

  async create(options: AgentOptions = {}): Promise<Agent> {
    if (this.factory === undefined)
      throw agentError(agentErrors.noFactory, 'no agent factory registered (load an agent-loop plugin)')
    if (options.id !== undefined && this.live.has(options.id))
      throw agentError(agentErrors.duplicateId, `agent "${options.id}" already exists`)
    const agent = await this.factory(options)
    this.live.set(agent.id, agent)
    agent.signal.addEventListener('abort', () => this.forget(agent), { once: true })
    notify(this.home, scopeTarget(agent), 'agent/created', agent)
    return agent
  }

  get(id: string): Agent | undefined {
    return this.live.get(id)
  }

  list(): readonly Agent[] {
    return [...this.live.values()]
  }

  bySession(session: Session): Agent | undefined {
    return this.list().find((agent) => agent.session === session)
  }

  registerFactory(factory: AgentFactory): () => void {
    return this.ctx.effect(() => {
      if (this.factory !== undefined)
        throw agentError(agentErrors.duplicateFactory, 'an agent factory is already registered')
      this.factory = factory
      return () => {
        this.factory = undefined
      }
    }, 'agent factory')
  }

  private forget(agent: Agent): void {
    if (this.live.get(agent.id) !== agent) return
    this.live.delete(agent.id)
    notify(this.home, scopeTarget(agent), 'agent/disposed', agent)
  }
}
