import type { Context } from '@dsh/cordis'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import * as toolsRow from '@dsh/tools'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'

async function run(execute: (exec: ToolExecution) => Promise<string>, timeoutMs?: number) {
  const home = await tempWorkspace()
  const definition: ToolDefinition = {
    name: 'work',
    description: '',
    parameters: { type: 'object', properties: {} },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value as string }] },
    execute: (_args, exec) => execute(exec),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const tool = { name: 'tool', inject: ['tools'], apply: async (ctx: Context) => void ctx.tools.register(definition) }
  const { ctx } = await bootRows([{ module: toolsRow }, { module: row }, { module: tool }], { home: home.root })
  return ctx.tools.execute({ callId: 'c', name: 'work', arguments: '{}', signal: new AbortController().signal })
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a body that listens is cut at its budget, and the result says so whatever the body made of it', async () => {
  const started = Date.now()
  const result = await run(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    throw new Error('my own words')
  }, 50)
  expect(Date.now() - started).toBeLessThan(1000)
  expect(result).toMatchObject({
    isError: true,
    error: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' },
    content: [{ text: 'Error: tool call timed out after 50ms' }],
  })
})

test('a body that does not listen is awaited, and its late answer is not taken for a timely one', async () => {
  const result = await run(async () => {
    await sleep(120)
    return 'late'
  }, 30)
  expect(result).toMatchObject({ error: { code: 'TOOL_TIMEOUT' } })
})

test('a quick body, and one without a budget, are left alone', async () => {
  expect((await run(async () => 'quick', 1000)).content).toEqual([{ type: 'text', text: 'quick' }])
  expect((await run(async () => 'free')).content).toEqual([{ type: 'text', text: 'free' }])
})
