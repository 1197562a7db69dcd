import { type Agent, type PreStepDecision, userMessage } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { UserMessage } from '@dsh/llm'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import * as toolsRow from '@dsh/tools'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'

async function setup(config: object = {}) {
  const home = await tempWorkspace()
  const policy = {
    name: 'policy',
    inject: ['tools'],
    apply: async (ctx: Context) => {
      ctx.tools.guard(({ arguments: args }) => (args.denied === true ? 'no' : undefined))
    },
  }
  const { ctx } = await bootRows([{ module: toolsRow }, { module: row, config }, { module: policy }], {
    home: home.root,
  })
  const agent = { id: 'a' } as Agent
  const call = async (args: object, name = 'x') => {
    const result = await ctx.tools.execute({
      callId: 'c',
      name,
      arguments: JSON.stringify(args),
      agent,
      signal: new AbortController().signal,
    })
    return result.additionalContexts?.map(({ source }: UserMessage) => (source as { summary?: string }).summary) ?? []
  }
  const claim = (message: UserMessage) =>
    ctx.waterfall(
      'agent/pre-step',
      { agent, turn: 1, step: 1, claimed: [message], signal: new AbortController().signal },
      async (): Promise<PreStepDecision> => ({ kind: 'enter', messages: [] }),
    )
  return { call, claim }
}

test('reminders come with the third, fifth and eighth identical call, denied ones included', async () => {
  const { call } = await setup()
  const given: string[] = []
  for (let i = 1; i <= 9; i++) if ((await call({ denied: true })).length > 0) given.push(String(i))
  expect(given).toEqual(['3', '5', '8'])
})

test("another call in between starts the count again, and so does a person's message", async () => {
  const { call, claim } = await setup()
  await call({ a: 1 })
  await call({ a: 1 })
  await call({ a: 2 })
  expect(await call({ a: 1 })).toEqual([])
  await call({ a: 1 })
  await claim(userMessage('go on'))
  expect(await call({ a: 1 })).toEqual([])
  await call({ a: 1 })
  await claim(userMessage('notice', { kind: 'plugin', plugin: 'x' }))
  expect(await call({ a: 1 })).toEqual(['x × 3'])
})
