import type { Agent } from '@dsh/agent'
import * as commandsRow from '@dsh/commands'
import type { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import * as promptRow from '@dsh/system-prompt'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import * as approvalRow from '@dsh/user-approval'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'

const presets = {
  'read-only': { sandbox: 'read-only', approval: 'ask' },
  'workspace-write': { sandbox: 'workspace-write', approval: 'ask' },
  'danger-full-access': { sandbox: 'danger-full-access', approval: 'never' },
}

async function permissions(options: { config?: object; mode?: string; policy?: string; confines?: boolean } = {}) {
  const { config = { presets }, mode = 'workspace-write', policy = 'ask', confines = true } = options
  const home = await tempWorkspace()
  const services = {
    name: 'services',
    apply: async (ctx: Context) => {
      ctx.provide('shell', { sandboxMode: confines ? mode : undefined } as never)
      ctx.provide('sandboxPolicy', { defaultMode: mode } as never)
    },
  }
  const { ctx, stderr } = await bootRows(
    [
      { module: sessionRow },
      { module: promptRow },
      { module: commandsRow },
      { module: services },
      { module: approvalRow, config: { policy } },
      { module: row, config },
    ],
    { home: home.root },
  )
  return { ctx, stderr }
}

test('a new session starts with its three pins, in this order', async () => {
  const { ctx } = await permissions()
  const session = ctx.sessions.create()
  expect(session.events.map(({ type, data }) => [type, data])).toEqual([
    ['permission/preset', { preset: 'workspace-write' }],
    ['sandbox/mode', { mode: 'workspace-write' }],
    ['approval/policy', { policy: 'ask' }],
  ])
})

test('a resumed session keeps what it says and gets only what it lacks', async () => {
  const { ctx } = await permissions()
  const first = ctx.sessions.create({ id: 'first' })
  const resumed = ctx.sessions.create({ id: 'resumed', seed: [...first.events] })
  expect(resumed.events.map(({ type }) => type).slice(3)).toEqual(['session/end-seed'])
  const partial = ctx.sessions.create({
    id: 'partial',
    seed: [{ type: 'sandbox/mode', seq: 0, time: 1, data: { mode: 'read-only' } }],
  })
  expect(partial.events.slice(2).map(({ type }) => type)).toEqual(['approval/policy'])
  expect(ctx.permissionPresets.current(partial)).toBe('read-only')
})

test('selecting a preset writes all three facts, selecting the one that holds writes none', async () => {
  const { ctx } = await permissions()
  const session = ctx.sessions.create()
  ctx.permissionPresets.set(session, 'workspace-write')
  expect(session.events).toHaveLength(3)
  ctx.permissionPresets.set(session, 'read-only')
  expect(session.events.slice(3).map(({ data }) => data)).toEqual([
    { preset: 'read-only' },
    { mode: 'read-only' },
    { policy: 'ask' },
  ])
  expect(() => ctx.permissionPresets.set(session, 'x')).toThrow(
    'permission: unknown preset "x" (known: read-only, workspace-write, danger-full-access)',
  )
})

test('values that no preset has are custom, which nobody can select or define', async () => {
  const { ctx } = await permissions()
  const session = ctx.sessions.create()
  session.append('approval/policy', { policy: 'never' })
  expect(ctx.permissionPresets.current(session)).toBe('custom')
  expect(ctx.permissionPresets.optionOf('custom')?.displayName).toBe('Custom')
  expect(() => ctx.permissionPresets.resolve('custom')).toThrow('unknown preset')
  await expect(permissions({ config: { presets: { custom: presets['read-only'] } } })).rejects.toThrow(
    'permission: "custom" is reserved',
  )
})

test('composed defaults that match no preset fail at start, unless a default is named', async () => {
  await expect(permissions({ policy: 'never' })).rejects.toThrow(
    'permission: composed sandbox and approval defaults match no preset; configure defaultPreset explicitly',
  )
  const { ctx } = await permissions({ policy: 'never', config: { presets, defaultPreset: 'read-only' } })
  expect(ctx.permissionPresets.current(ctx.sessions.create())).toBe('read-only')
})

test('with an executor that does not confine nothing is printed: that is what the composition says', async () => {
  const { stderr } = await permissions({ confines: false })
  expect(stderr).toEqual([])
})

test('/permission shows, changes and refuses', async () => {
  const { ctx } = await permissions()
  const session = ctx.sessions.create()
  const agent = { id: 'a', session } as Agent
  const run = async (line: string) => (await ctx.commands.run(agent, line)).text
  const available = '(available: read-only, workspace-write, danger-full-access)'
  expect(await run('/permission')).toBe(`current preset workspace-write ${available}`)
  expect(await run('/permission read-only')).toBe('preset read-only')
  expect(await run('/permission root')).toBe(`unknown preset "root" ${available}`)
  expect(ctx.permissionPresets.current(session)).toBe('read-only')
})
