import * as commandsRow from '@dsh/commands'
import { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as commandRow from '../src/index.ts'

let ctx: Context
let agent: any
let answer: { items: number; tokens: number; checkpointSeq: number } | undefined | Error
let asked: unknown[]
beforeEach(async () => {
  asked = []
  ctx = new Context()
  await ctx.plugin(sessionRow)
  await ctx.plugin(commandsRow)
  ctx.provide('compaction', {
    compact: async (_agent, options) => {
      asked.push(options?.sourceCommandId)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  await ctx.plugin(commandRow)
  agent = { session: ctx.get('sessions')!.create({ ephemeral: true }) }
})
afterEach(() => ctx.fiber.dispose())
const run = (line: string) => ctx.get('commands')!.run(agent, line)

test('the reply counts what was compacted and points at the checkpoint', async () => {
  answer = { items: 4, tokens: 1200, checkpointSeq: 9 }
  expect(await run('/compact')).toEqual({
    kind: 'success',
    text: 'Compacted 4 history items (~1200 tokens).',
    sourceEventSeq: 9,
  })
  const logged = agent.session.events.find((event: { type: string }) => event.type === 'command/run')
  expect(asked).toEqual([logged.data.commandId])
})

test('without history there is nothing to do', async () => {
  answer = undefined
  expect(await run('/compact')).toEqual({ kind: 'success', text: 'No compactable history yet.' })
})

test('arguments are a mistake, and nothing is compacted', async () => {
  expect(await run('/compact now')).toEqual({ kind: 'error', text: 'Usage: /compact (no arguments)' })
  expect(asked).toEqual([])
})

test('a failure is said in its own words', async () => {
  answer = new Error('the summary failed: nope')
  expect(await run('/compact')).toEqual({ kind: 'error', text: 'the summary failed: nope' })
})
