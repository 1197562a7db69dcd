import type { Agent } from '@dsh/agent'
import * as sessionRow from '@dsh/session'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import * as toolsRow from '@dsh/tools'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'

async function todo(config: object = {}) {
  const home = await tempWorkspace()
  const { ctx } = await bootRows([{ module: sessionRow }, { module: toolsRow }, { module: row, config }], {
    home: home.root,
  })
  const session = ctx.sessions.create()
  const agent = { id: 'a', session } as Agent
  const write = async (todos: unknown, by: Agent | undefined = agent) => {
    const result = await ctx.tools.execute({
      callId: 'c',
      name: 'todo_write',
      arguments: JSON.stringify({ todos }),
      signal: new AbortController().signal,
      ...(by === undefined ? {} : { agent: by }),
    })
    return (result.content[0] as { text: string }).text
  }
  return { ctx, session, write }
}

const item = (content: string, status = 'pending') => ({ content, status })

test('the whole list replaces the last one, in the log and in the counts', async () => {
  const { session, write } = await todo()
  expect(await write([item('a', 'in_progress'), item('b'), item('c', 'completed')])).toBe(
    'Updated todo list: 1 pending, 1 in progress, 1 completed.',
  )
  expect(await write([])).toBe('Updated todo list: 0 pending, 0 in progress, 0 completed.')
  expect(session.events.map(({ type, data }) => [type, data])).toEqual([
    ['todo/write', { todos: [item('a', 'in_progress'), item('b'), item('c', 'completed')] }],
    ['todo/write', { todos: [] }],
  ])
})

test('blank and repeated items are refused and nothing is logged', async () => {
  const { session, write } = await todo()
  expect(await write([item(' ')])).toBe('Error: invalid todo: `content` must be a non-empty string')
  expect(await write([item('a'), item('a')])).toBe('Error: invalid todos: duplicate content "a"')
  expect(session.events).toHaveLength(0)
})

test('where work never runs in parallel, one item may be in progress', async () => {
  const { ctx, write } = await todo({ allowParallelInProgress: false })
  expect(await write([item('a', 'in_progress'), item('b', 'in_progress')])).toBe(
    'Error: invalid todos: at most one task may be in_progress (got 2)',
  )
  expect(ctx.tools.get('todo_write')?.description).not.toContain('several at once')
})

test('the description is the one the model knows, to the character', async () => {
  const { ctx } = await todo()
  const { description } = ctx.tools.get('todo_write')!
  expect(description).toContain('Send the ENTIRE list every call — it REPLACES the previous list')
  expect(description.length).toBe(805)
})
