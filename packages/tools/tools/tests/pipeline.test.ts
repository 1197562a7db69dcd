import type { Agent } from '@dsh/agent'
import { type Context, createScope } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import * as toolsRow from '../src/index.ts'
import type { PostExecuteDecision, PreExecuteDecision, ToolDefinition, ToolResult } from '../src/types.ts'

const agent = { id: 'a1' } as Agent

/** The context of a row that needs tools, as `setup` got it. */
async function tools(setup: (ctx: Context) => void = () => {}): Promise<Context> {
  const home = await tempWorkspace()
  let inner: Context | undefined
  const apply = async (ctx: Context) => {
    inner = ctx
    setup(ctx)
  }
  const row = { name: 'test', inject: ['tools'], apply }
  await bootRows([{ module: toolsRow }, { module: row }], { home: home.root })
  return inner!
}

function tool(more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name: 'greet',
    description: 'says hello',
    parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
    output: {
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      render: (_args, value: { text: string }) => [{ type: 'text', text: value.text }],
      presentationMeta: (args: { who: string }) => ({ who: args.who }),
    },
    execute: async ({ who }: { who: string }) => ({ text: `hello ${who}` }),
    ...more,
  }
}

async function execute(ctx: Context, args: unknown = { who: 'you' }, more: object = {}): Promise<ToolResult> {
  return ctx.tools.execute({
    callId: 'c1',
    name: 'greet',
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    agent,
    signal: new AbortController().signal,
    ...more,
  })
}

function text(result: ToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

test('a result is the rendered value, with its meta, frozen', async () => {
  const ctx = await tools((c) => c.tools.register(tool()))
  const result = await execute(ctx)
  expect(result).toEqual({
    content: [{ type: 'text', text: 'hello you' }],
    isError: false,
    value: { text: 'hello you' },
    meta: { who: 'you' },
  })
  expect(Object.isFrozen(result.content[0])).toBe(true)
})

test('the stages run in their order, and a denial skips the body but not post-execute', async () => {
  const order: string[] = []
  let decision: PreExecuteDecision = { kind: 'allow' }
  const ctx = await tools((c) => {
    c.tools.register(
      tool({
        execute: async () => {
          order.push('body')
          return { text: 'x' }
        },
        finalizeContent: () => {
          order.push('finalize')
          return undefined
        },
      }),
    )
    c.on('tools/pre-execute', async (_exec, next) => {
      order.push('pre')
      return decision.kind === 'allow' ? next() : decision
    })
    c.tools.guard(() => void order.push('guard'))
    c.on('tools/execute', async (_exec, next) => {
      order.push('execute')
      return next()
    })
    c.on('tools/post-execute', async (_exec, _result, next) => {
      order.push('post')
      return next()
    })
    c.on('tools/result', () => void order.push('result'))
  })
  await execute(ctx)
  expect(order.splice(0)).toEqual(['pre', 'guard', 'execute', 'body', 'post', 'finalize', 'result'])
  decision = { kind: 'deny', reason: 'not today' }
  expect(text(await execute(ctx))).toBe('Error: not today')
  expect(order).toEqual(['pre', 'post', 'finalize', 'result'])
})

test('a guard can deny what policies allowed, and no guard can undo another one', async () => {
  const ctx = await tools((c) => {
    c.tools.register(tool())
    c.tools.guard(() => undefined)
    c.tools.guard(() => 'guarded')
    c.tools.guard(() => undefined)
  })
  expect(text(await execute(ctx))).toBe('Error: guarded')
})

test('an ask without anybody to ask is a denial', async () => {
  const asking = (reason?: string) => (c: Context) => {
    c.tools.register(tool())
    c.on('tools/pre-execute', async () => ({ kind: 'ask' as const, ...(reason === undefined ? {} : { reason }) }))
  }
  expect(text(await execute(await tools(asking())))).toBe('Error: tool "greet" requires approval (not yet supported)')
  expect(text(await execute(await tools(asking('why not'))))).toBe('Error: why not')
})

test('only a person who allows it just now lets an asked call through', async () => {
  const outcomes = {
    'allowed-once': 'hello you',
    rejected: 'Error: the user rejected tool "greet"',
    cancelled: 'Error: approval for tool "greet" was cancelled',
    unavailable: 'Error: tool "greet" requires approval, but no approval channel is available',
  } as const
  for (const [outcome, expected] of Object.entries(outcomes)) {
    const ctx = await tools((c) => {
      c.provide('approval', { ask: async () => ({ outcome }) } as never)
      c.tools.register(tool())
      c.on('tools/pre-execute', async () => ({ kind: 'ask' as const }))
    })
    expect(text(await execute(ctx)), outcome).toBe(expected)
    const orphan = await execute(ctx, { who: 'you' }, { agent: undefined })
    expect(text(orphan)).toBe('Error: tool "greet" requires approval, but the call has no agent to route it through')
  }
})

test('failures of the body are results: plain, coded, invalid arguments, invalid output', async () => {
  const ctx = await tools((c) => c.tools.register(tool()))
  expect(await execute(ctx, {})).toMatchObject({
    isError: true,
    error: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
    content: [{ text: 'Error: invalid arguments: missing required property "who"' }],
  })
  const coded = await tools((c) =>
    c.tools.register(
      tool({
        execute: async () => {
          throw new DshError('NOPE', 'no', { name: 'SomeError', hint: 'try yes' })
        },
      }),
    ),
  )
  expect(await execute(coded)).toMatchObject({
    error: { name: 'SomeError', code: 'NOPE' },
    content: [{ text: 'Error: no\ntry yes' }],
  })
  const bad = await tools((c) => c.tools.register(tool({ execute: async () => ({ text: 5 }) })))
  expect(text(await execute(bad))).toBe('Error: tool "greet" returned invalid output: "text" must be a string')
  const lossy = await tools((c) => c.tools.register(tool({ execute: async () => ({ text: 'x', extra: undefined }) })))
  expect(text(await execute(lossy))).toBe('Error: tool "greet" returned invalid output: value is not lossless JSON')
})

test('an unknown tool is an error that policies still see', async () => {
  const seen: string[] = []
  const ctx = await tools((c) => {
    c.on('tools/pre-execute', async (exec, next) => {
      seen.push(exec.name)
      return next()
    })
  })
  expect(await execute(ctx)).toMatchObject({
    content: [{ text: 'Error: unknown tool "greet"' }],
    error: { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' },
  })
  expect(seen).toEqual(['greet'])
})

test('a call that was cancelled before it started never reaches a policy', async () => {
  const ctx = await tools((c) => {
    c.tools.register(tool())
    c.on('tools/pre-execute', async () => {
      throw new Error('unreachable')
    })
  })
  const result = await execute(ctx, { who: 'you' }, { signal: AbortSignal.abort() })
  expect(result).toMatchObject({ error: { code: 'ABORTED_BEFORE_DISPATCH' } })
})

test('a wrapper may narrow the signal, and the caller can still cancel the body', async () => {
  const controller = new AbortController()
  let body: AbortSignal | undefined
  const ctx = await tools((c) => {
    c.tools.register(
      tool({
        execute: async (_args, { signal }) => {
          body = signal
          controller.abort()
          return { text: signal.aborted ? 'saw it' : 'missed it' }
        },
      }),
    )
    c.on('tools/execute', async (exec, next) => {
      exec.signal = new AbortController().signal
      return next()
    })
  })
  const result = await execute(ctx, { who: 'you' }, { signal: controller.signal })
  expect(body?.aborted).toBe(true)
  expect(result).toMatchObject({ error: { code: 'ABORTED' }, content: [{ text: 'Error: tool call aborted' }] })
})

test('post-execute may replace the content or the value, block, or add context; never both replacements', async () => {
  const decide = async (decision: PostExecuteDecision) => {
    const ctx = await tools((c) => {
      c.tools.register(tool())
      c.on('tools/post-execute', async () => decision)
    })
    return execute(ctx)
  }
  const content = [{ type: 'text', text: 'other' }] as const
  expect(await decide({ kind: 'accept', content })).toMatchObject({
    content,
    value: { text: 'hello you' },
    meta: { who: 'you' },
  })
  expect(text(await decide({ kind: 'accept', value: { text: 'new' } }))).toBe('new')
  expect(await decide({ kind: 'block', feedback: content })).toEqual({ content, isError: true })
  expect(text(await decide({ kind: 'accept', content, value: {} }))).toBe(
    'Error: tools/post-execute accept decision cannot replace both value and content',
  )
})

test('a throwing policy, wrapper or post-execute row is the result, not a crash', async () => {
  for (const stage of ['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const) {
    const ctx = await tools((c) => {
      c.tools.register(tool())
      c.on(stage, async () => {
        throw new Error(`broken ${stage}`)
      })
    })
    expect(text(await execute(ctx))).toBe(`Error: broken ${stage}`)
  }
})

test('two rows that claim one name: the error names both', async () => {
  const home = await tempWorkspace()
  const claim = (name: string) => ({
    name,
    inject: ['tools'],
    apply: async (ctx: Context) => void ctx.tools.register(tool()),
  })
  await expect(
    bootRows([{ module: toolsRow }, { module: claim('first') }, { module: claim('second') }], { home: home.root }),
  ).rejects.toThrow(/row second.*tool "greet" is already registered .*by row "first"; row "second"/)
})

test("a tool of one agent is that agent's alone, takes the place of everybody's, and ends with its scope", async () => {
  const ctx = await tools((c) => c.tools.register(tool()))
  const scope = await createScope(ctx, agent)
  scope.ctx.tools.register(tool({ description: 'mine' }))
  scope.ctx.tools.register(tool({ name: 'extra' }))
  const names = (who?: Agent) => ctx.tools.schemas(who).map(({ name, description }) => `${name}: ${description}`)
  expect(names(agent)).toEqual(['extra: says hello', 'greet: mine'])
  expect(names({ id: 'other' } as Agent)).toEqual(['greet: says hello'])
  await scope.dispose()
  expect(names(agent)).toEqual(['greet: says hello'])
})

test('a restriction narrows what an agent inherits, and works only through its own context', async () => {
  const ctx = await tools((c) => {
    c.tools.register(tool())
    c.tools.register(tool({ name: 'other' }))
  })
  expect(() => ctx.tools.restrict({ deny: ['greet'] })).toThrow('agent.ctx')
  const scope = await createScope(ctx, agent)
  expect(() => scope.ctx.tools.restrict({ allow: ['nope'] })).toThrow('known global tools: greet, other')
  scope.ctx.tools.restrict({ deny: ['other'] })
  expect(ctx.tools.schemas(agent).map(({ name }) => name)).toEqual(['greet'])
  expect(text(await execute(ctx, {}, { name: 'other' }))).toBe('Error: unknown tool "other"')
})

test('a registration ends with its row', async () => {
  const ctx = await tools()
  const fiber = ctx.plugin(
    {
      name: 'guest',
      inject: ['tools'],
      apply: async (c: Context) => void c.tools.register(tool()),
    } as never,
    undefined as never,
  )
  await fiber
  expect(ctx.tools.get('greet')).toBeDefined()
  await fiber.dispose()
  expect(ctx.tools.get('greet')).toBeUndefined()
})

test('bad definitions are refused where they are registered', async () => {
  const ctx = await tools()
  const register = (more: object) => () => ctx.tools.register(tool(more))
  expect(register({ output: undefined })).toThrow(
    'tool "greet" must declare output { schema, render, presentationMeta? }',
  )
  expect(register({ timeoutMs: 0 })).toThrow('tool "greet" timeoutMs must be a positive finite number')
  expect(register({ name: 'run_code' })).toThrow('reserved for the Code Mode presentation transport')
  expect(register({ parameters: { type: 'object', minProperties: 1 } })).toThrow('unsupported JSON schema')
})

test('a composition that asks for code mode does not start', async () => {
  const home = await tempWorkspace()
  await bootRows([{ module: toolsRow, config: { mode: undefined } }], { home: home.path('a') })
  await expect(bootRows([{ module: toolsRow, config: { mode: 'code' } }], { home: home.path('b') })).rejects.toThrow(
    'mode must be native: there is no code mode here',
  )
})
