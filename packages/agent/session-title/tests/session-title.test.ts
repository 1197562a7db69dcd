import { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import { expect, it } from 'vitest'
import * as row from '../src/index.ts'
import { cleanTitle, fallbackTitle } from '../src/title-text.ts'

async function host() {
  const ctx = new Context()
  await ctx.plugin(sessionRow)
  await ctx.plugin(row, row.Config.parse(undefined))
  return ctx
}
const prompt = (text: string, kind = 'user') => ({
  content: [{ type: 'text' as const, text }],
  source: { kind },
  role: 'user' as const,
  id: text,
})
const append = { surfaceOp: 'append' } as const
const gap = () => new Promise((resolve) => setTimeout(resolve, 0))

it('a session is named after its first prompt, behind the whole batch', async () => {
  const session = (await host()).sessions.create()
  session.append('user/message', prompt('Perform one side-effecting remote mutation. And more'), append)
  session.append('user/message', prompt('context', 'plugin'), append)
  await gap()
  expect(session.events.at(-1)).toMatchObject({
    type: 'session/title',
    seq: 2,
    data: { title: 'Perform one side-effecting remote mutati', messageSeqs: [0], source: { kind: 'fallback' } },
  })
  session.append('user/message', prompt('second'), append)
  await gap()
  expect(session.events.filter((event) => event.type === 'session/title').length).toBe(1)
})

it('a restored session without a title gets one from its first prompt', async () => {
  const ctx = await host()
  const old = ctx.sessions.create()
  const event = old.append('user/message', prompt('old words'), append)
  const session = ctx.sessions.create({ seed: [event as never] })
  session.append('user/message', prompt('new words'), append)
  await gap()
  expect(ctx.sessionTitle.get(session)).toBe('old words')
})

it('a title that a person gave stays', async () => {
  const ctx = await host()
  const session = ctx.sessions.create()
  ctx.sessionTitle.rename(session, '  Mine\n\u001b[31m ')
  session.append('user/message', prompt('words'), append)
  await gap()
  expect(ctx.sessionTitle.get(session)).toBe('Mine [31m')
  expect(() => ctx.sessionTitle.rename(session, ' \n ')).toThrow('printable')
})

it('a prompt without text gives no title, and no title splits a character', async () => {
  expect(fallbackTitle([{ type: 'text', text: ' \n\t ' }], { maxWords: 5, maxBytes: 40 })).toBeUndefined()
  expect(cleanTitle('日本語', 7)).toBe('日本')
})
