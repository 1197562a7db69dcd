import type { Agent, AgentOptions } from '@dsh/agent'
import * as agentRow from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import * as llmRow from '@dsh/llm'
import type { Session, SessionEvent, SessionEventOf, SessionEventType } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import * as systemPromptRow from '@dsh/system-prompt'
import { bootRows, type Reply, type RowSpec, scriptedModel, tempWorkspace } from '@dsh/testkit'
import type { ToolDefinition } from '@dsh/tools'
import * as toolsRow from '@dsh/tools'
import * as loopRow from '../src/index.ts'

export interface Booted {
  readonly ctx: Context
  readonly agent: Agent
  readonly session: Session
  readonly requests: readonly GenerateOptions[]
  types(): string[]
  all<T extends SessionEventType>(type: T): SessionEventOf<T>[]
  last<T extends SessionEventType>(type: T): SessionEventOf<T> | undefined
  turn(text: string): Promise<void>
  /** Before the test ends, for tests that boot often. */
  close(): Promise<void>
}

export interface HarnessOptions {
  readonly replies?: readonly (Reply | ((request: GenerateOptions) => Reply))[]
  /** Takes the place of the scripted replies. */
  readonly stream?: (options: GenerateOptions, call: number) => AsyncIterable<StreamChunk>
  readonly tools?: readonly ToolDefinition[]
  readonly rows?: readonly RowSpec[]
  readonly loop?: unknown
  readonly agent?: AgentOptions
}

/** The loop over real session, model seam, tools and prompt rows; only the model is scripted. */
export async function harness(options: HarnessOptions): Promise<Booted> {
  const home = await tempWorkspace()
  const script = scriptedModel(options.replies ?? [])
  const requests: GenerateOptions[] = options.stream === undefined ? script.requests : []
  const streaming = {
    name: 'streaming-model',
    inject: ['llm'],
    apply: async (ctx: Context) => {
      ctx.llm.register({
        route: '*',
        providerInfo: () => ({ id: 'scripted', name: 'scripted' }),
        resolveModel: (id, provider) => ({ provider, id, name: id }),
        stream: (request) => {
          requests.push(request)
          return options.stream!(request, requests.length)
        },
      })
    },
  }
  const extra = {
    name: 'test-tools',
    inject: ['tools'],
    apply: async (ctx: Context) => {
      for (const tool of options.tools ?? []) ctx.tools.register(tool)
    },
  }
  const { ctx, dispose } = await bootRows(
    [
      { module: llmRow },
      { module: options.stream === undefined ? script.row : streaming },
      { module: sessionRow },
      { module: systemPromptRow, config: { persona: 'Model {{model}} in {{cwd}}.' } },
      { module: agentRow },
      { module: toolsRow },
      { module: extra },
      { module: loopRow, config: options.loop ?? {} },
      ...(options.rows ?? []),
    ],
    { home: home.path('home') },
  )
  const agent = await ctx.agents.create({ cwd: home.root, provider: 'scripted', model: 'm1', ...options.agent })
  const { session } = agent
  const all = <T extends SessionEventType>(type: T) =>
    session.events.filter((event): event is SessionEventOf<T> & SessionEvent => event.type === type)
  return {
    ctx,
    agent,
    session,
    requests,
    types: () => session.events.map(({ type }) => type),
    all,
    last: (type) => all(type).at(-1),
    close: dispose,
    async turn(text) {
      agent.followup(text)
      await agent.whenIdle()
    },
  }
}

export function textTool(
  name: string,
  execute: ToolDefinition['execute'],
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return {
    name,
    description: `the ${name} tool`,
    parameters: { type: 'object', properties: {} },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value as string }] },
    execute,
    ...more,
  }
}

export function resultTexts({ session }: Booted): string[] {
  return session.events.flatMap((event) => {
    if (event.type !== 'tool/result') return []
    const block = event.data.message.content[0]
    if (block?.type !== 'tool-result') return []
    return [block.content.map((part) => (part.type === 'text' ? part.text : '')).join('')]
  })
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
