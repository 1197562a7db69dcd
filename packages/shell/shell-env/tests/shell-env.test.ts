import { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import { describe, expect, it } from 'vitest'
import * as shellEnv from '../src/index.ts'

async function mount() {
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => ['/home/dsh', ...parts].join('/'))
  await ctx.plugin(shellEnv)
  return { ctx, service: () => ctx.get('shellEnv') as shellEnv.ShellEnvService }
}

describe('the managed variables of child shells', () => {
  it('name the home, the shell, the session and its log', async () => {
    const { service } = await mount()
    expect(service().collect({})).toEqual({ DSH_HOME: '/home/dsh', DSH_SHELL: '1' })
    expect(service().collect({ sessionId: 's1', sessionPath: '/home/dsh/sessions/s1/session.jsonl' })).toEqual({
      DSH_HOME: '/home/dsh',
      DSH_SHELL: '1',
      DSH_SESSION_ID: 's1',
      DSH_SESSION_JSONL: '/home/dsh/sessions/s1/session.jsonl',
    })
  })

  it('include what a row contributes, as long as the row lives', async () => {
    const { ctx, service } = await mount()
    const row = ctx.plugin({
      name: 'web',
      inject: ['shellEnv'],
      apply: async (inner: Context) => {
        inner.shellEnv.register({
          names: ['DSH_WEB_URL'],
          description: 'Where the UI is',
          collect: () => ({ DSH_WEB_URL: 'u' }),
        })
      },
    })
    await row
    expect(service().collect({})).toMatchObject({ DSH_WEB_URL: 'u' })
    expect(service().list()).toContainEqual({ name: 'DSH_WEB_URL', description: 'Where the UI is' })
    await row.dispose()
    expect(service().collect({})).not.toHaveProperty('DSH_WEB_URL')
  })

  it.each([
    ['lower', 'does not match'],
    ['DSH_HOME', 'set by the harness'],
    ['OTHER_NAME', 'does not match'],
  ])('refuse the name %s', async (name, message) => {
    const { service } = await mount()
    expect(() => service().register({ names: [name], description: 'd', collect: () => ({}) })).toThrow(message)
  })

  it('have one owner each, and nothing undeclared', async () => {
    const { service } = await mount()
    const entry = { names: ['DSH_A'], description: 'd', collect: () => ({ DSH_B: 'x' }) }
    service().register(entry)
    expect(() => service().register(entry)).toThrow('has an owner')
    expect(() => service().collect({})).toThrow('"DSH_B" was not declared')
  })
})
