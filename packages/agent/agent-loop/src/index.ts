import type { Agent, AgentOptions } from '@dsh/agent'
import { type Context, createScope } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/token-meter'
import * as z from 'zod'
import './events.ts'
import { guardDispatch } from './guard.ts'
import { LoopAgent, type LoopServices } from './loop-agent.ts'
import { openSession, withResumedChoice } from './open-session.ts'

declare module '@dsh/cordis' {
  interface Context {
    agentLoop: AgentLoopService
  }
}

/** `ctx.agentLoop` */
export interface AgentLoopService {
  readonly maxParallelToolCalls: number
}

export const name = 'agent-loop'
export const inject = ['agents', 'sessions', 'llm', 'tools', 'systemPrompt']

const positive = 'must be a positive integer'

export const Config = lazySchema(() =>
  z.strictObject({
    /** Surfaces make the agents here; a composition cannot declare any. */
    agents: z.array(z.unknown()).max(0, { error: 'agents are made by surfaces: the list must be empty' }).optional(),
    maxParallelToolCalls: z
      .int({ error: `maxParallelToolCalls ${positive}` })
      .positive({ error: `maxParallelToolCalls ${positive}` })
      .default(10),
    /** `digest` compares hashes, at a cost of O(new messages); `full` derives everything again and compares texts. */
    guard: z.enum(['digest', 'full']).default('digest'),
    /** Limits of agents that bring none of their own. */
    limits: z
      .strictObject({
        /** Model requests per turn. */
        maxTurns: z.int().positive().optional(),
        maxWallMs: z.int().positive().optional(),
        maxBudgetUsd: z.number().positive().optional(),
      })
      .default({}),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const { agents, sessions, llm, tools, systemPrompt } = ctx
  const live = new Set<LoopAgent>()
  const persistence = () => ctx.get('sessionPersistence')

  ctx.provide('agentLoop', { maxParallelToolCalls: config.maxParallelToolCalls })
  llm.guard((options) => guardDispatch(sessions.get(options.sessionId ?? ''), options, config.guard))

  const create = async (asked: AgentOptions): Promise<Agent> => {
    const store = persistence()
    const session = await openSession(asked, { sessions, persistence: store })
    const services: LoopServices = {
      ctx,
      llm,
      tools,
      systemPrompt,
      maxParallelToolCalls: () => config.maxParallelToolCalls,
      defaultLimits: config.limits,
      spentUsd: (spending) => ctx.get('tokenMeter')?.totals(spending).costUsd,
      async release(closing) {
        live.delete(agent)
        await store?.flush(closing).catch((error: unknown) => ctx.logger.error(error))
        await sessions.dispose(closing.id)
      },
    }
    const agent = new LoopAgent(session, withResumedChoice(asked, session), services)
    agent.attach(await createScope(ctx, agent, `agent ${agent.id}`))
    live.add(agent)
    return agent
  }

  ctx.effect(() => {
    const unregister = agents.registerFactory(create)
    return async () => {
      unregister()
      await Promise.all([...live].map((agent) => agent.dispose()))
    }
  }, 'agent loop')
}
