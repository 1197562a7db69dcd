import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'
import { parseCommandLine } from '../src/line.ts'

async function commands() {
  const home = await tempWorkspace()
  const { ctx } = await bootRows([{ module: sessionRow }, { module: row }], { home: home.root })
  const session = ctx.sessions.create()
  const agent = { id: 'a', session } as Agent
  const log = () => session.events.map(({ type, data }) => [type, data])
  return { ctx: ctx as Context, agent, session, log }
}

test('a run and its reply stand in the log as a pair', async () => {
  const { ctx, agent, log } = await commands()
  ctx.commands.register({
    name: 'echo',
    description: '',
    run: async ({ args }) => ({ kind: 'success', text: `<${args}>` }),
  })
  expect(await ctx.commands.run(agent, '/echo  a b ')).toEqual({ kind: 'success', text: '<a b>' })
  const [[run, started], [done, ended]] = log() as [[string, { commandId: string }], [string, object]]
  expect([run, done]).toEqual(['command/run', 'command/done'])
  const { commandId } = started
  expect(started).toEqual({ commandId, name: 'echo', args: 'a b', source: { kind: 'user' } })
  expect(ended).toEqual({ commandId, kind: 'success', text: '<a b>' })
})

test('a throw is an error reply; an unknown name is one too and is not logged', async () => {
  const { ctx, agent, session } = await commands()
  ctx.commands.register({
    name: 'bad',
    description: '',
    run: async () => {
      throw new Error('kaput')
    },
  })
  expect(await ctx.commands.run(agent, '/bad')).toEqual({ kind: 'error', text: 'kaput' })
  const before = session.events.length
  expect(await ctx.commands.run(agent, '/nope')).toEqual({ kind: 'error', text: 'unknown command "/nope"' })
  expect(session.events.length).toBe(before)
})

test('names are checked, unique, listed in order, and end with their row', async () => {
  const { ctx } = await commands()
  const make = (name: string) => ({ name, description: '', run: async () => ({ kind: 'success' as const }) })
  expect(() => ctx.commands.register(make('Bad Name'))).toThrow('must match')
  ctx.commands.register(make('b'))
  const undo = ctx.commands.register(make('a'))
  expect(() => ctx.commands.register(make('a'))).toThrow('command "/a" is already registered')
  expect(ctx.commands.list().map(({ name }) => name)).toEqual(['a', 'b'])
  undo()
  expect(ctx.commands.list().map(({ name }) => name)).toEqual(['b'])
})

test('a path or a lone slash is no command line', () => {
  expect(parseCommandLine('/usr/bin/env')).toBeUndefined()
  expect(parseCommandLine('/')).toBeUndefined()
  expect(parseCommandLine('say /help')).toBeUndefined()
  expect(parseCommandLine('/compact\nnow')).toEqual({ name: 'compact', args: 'now' })
})
