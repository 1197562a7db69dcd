import type { Context } from '@dsh/cordis'
import type { UserMessage } from '@dsh/llm'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { Inbox, type InboxListener, pluginMessage, userMessage } from '../src/index.ts'

const silent: InboxListener = { inserted() {}, discarded() {}, claimed() {} }

async function sessions(): Promise<Context['sessions']> {
  const home = await tempWorkspace()
  const { ctx } = await bootRows([{ module: sessionRow }], { home: home.root })
  return ctx.sessions
}

const texts = (messages: readonly UserMessage[]) => messages.map((m) => (m.content[0] as { text: string }).text)
const splices = (session: Session) =>
  session.events.flatMap((event) => (event.type === 'agent/inbox/spliced' ? [event.data] : []))

test('every change is in the log before it is in memory, in the shape of the reference', async () => {
  const session = (await sessions()).create()
  const seen: number[] = []
  const inbox: Inbox = new Inbox(session, {
    ...silent,
    inserted: () => void seen.push(session.events.length, inbox.pending('next-turn').length),
  })
  const first = userMessage('a')
  inbox.insert('next-turn', first)
  expect(seen).toEqual([1, 1])
  inbox.claim('next-turn')
  expect(splices(session)).toEqual([
    { target: 'next-turn', start: 0, inserted: [first] },
    { target: 'next-turn', start: 0, removedCount: 1, inserted: [] },
  ])
})

test('a turn claims everything for the next step and one prompt; a later step claims no prompt', async () => {
  const inbox = new Inbox((await sessions()).create(), silent)
  inbox.insert('next-turn', userMessage('one'))
  inbox.insert('next-turn', userMessage('two'))
  inbox.insert('next-step', pluginMessage('fact', { plugin: 'x' }))
  expect(texts(inbox.claim('next-turn'))).toEqual(['fact', 'one'])
  expect(texts(inbox.claim('next-step'))).toEqual([])
  expect(texts(inbox.claim('next-turn'))).toEqual(['two'])
})

test('a message cannot wait twice, and an impossible splice is refused', async () => {
  const session = (await sessions()).create()
  const inbox = new Inbox(session, silent)
  const message = userMessage('a')
  inbox.insert('next-turn', message)
  expect(() => inbox.insert('next-step', message)).toThrow(`message "${message.id}" is already pending`)
  expect(() => inbox.splice('next-turn', 0.5, 0, [])).toThrow('invalid inbox splice')
  const before = session.events.length
  expect(inbox.splice('next-turn', 9, 3)).toEqual([])
  expect(session.events.length).toBe(before)
})

test('cancelling discards both queues and says so', async () => {
  const session = (await sessions()).create()
  const discarded: string[] = []
  const inbox = new Inbox(session, {
    ...silent,
    discarded: (_target, messages) => void discarded.push(...texts(messages)),
  })
  inbox.insert('next-turn', userMessage('later'))
  inbox.insert('next-step', userMessage('soon'))
  inbox.cancel()
  expect(discarded).toEqual(['soon', 'later'])
  expect(
    splices(session)
      .slice(-2)
      .map(({ outcome }) => outcome),
  ).toEqual(['canceled', 'canceled'])
})

test("a resumed session has the same queues; a fork does not inherit its parent's", async () => {
  const store = await sessions()
  const source = store.create({ id: 'source' })
  const inbox = new Inbox(source, silent)
  inbox.insert('next-turn', userMessage('one'))
  inbox.insert('next-turn', userMessage('two'))
  inbox.claim('next-turn')
  const seed = [...source.events]
  const resumed = new Inbox(store.create({ id: 'resumed', seed }), silent)
  expect(texts(resumed.pending('next-turn'))).toEqual(['two'])
  const fork = new Inbox(store.create({ id: 'fork', seed, seedLength: seed.length, parentSession: 'source' }), silent)
  expect(fork.pending('next-turn')).toEqual([])
})

test('a refused prompt waits, and is not claimed again by this process', async () => {
  const inbox = new Inbox((await sessions()).create(), silent)
  inbox.insert('next-turn', userMessage('refused'))
  inbox.insert('next-step', pluginMessage('fact', { plugin: 'x' }))
  inbox.giveBack(inbox.claim('next-turn'))
  expect(inbox.hasPrompt).toBe(false)
  inbox.insert('next-turn', userMessage('fine'))
  expect(texts(inbox.claim('next-turn'))).toEqual(['fact', 'fine'])
  expect(texts(inbox.pending('next-turn'))).toEqual(['refused'])
})
