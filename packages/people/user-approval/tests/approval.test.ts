import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import * as promptRow from '@dsh/system-prompt'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../src/types.ts'

type Answer = (request: ApprovalRequest & { id: string }) => Promise<ApprovalAnswer>

async function approvals(options: { answer?: Answer; policy?: string; openTurn?: boolean } = {}) {
  const home = await tempWorkspace()
  const { policy = 'ask', answer, openTurn = true } = options
  const person = {
    name: 'person',
    apply: async (ctx: Context) => {
      if (answer !== undefined) ctx.on('approval/request', answer)
    },
  }
  const { ctx, stderr } = await bootRows(
    [{ module: sessionRow }, { module: promptRow }, { module: row, config: { policy } }, { module: person }],
    { home: home.root },
  )
  const session = ctx.sessions.create()
  if (openTurn) session.append('turn/start', { turn: 1 })
  const injected: unknown[] = []
  const agent = { id: 'a', session, inject: (message: unknown) => void injected.push(message) } as unknown as Agent
  const ask = (more: Partial<ApprovalRequest> = {}) =>
    ctx.approval.ask({ agent, toolName: 'bash', callId: 'c', reason: 'why', ...more })
  const log = () => session.events.slice(1).map(({ type, data }) => [type, data])
  return { ctx, session, agent, ask, log, injected, stderr }
}

test('a question and its answer stand in the log as a pair, and a note reaches the caller only', async () => {
  const { ask, log } = await approvals({ answer: async () => ({ outcome: 'rejected', note: 'use git instead' }) })
  expect(await ask()).toEqual({ outcome: 'rejected', note: 'use git instead' })
  const [[asked, question], [decided, answer]] = log() as [[string, { id: string }], [string, object]]
  expect([asked, decided]).toEqual(['approval/asked', 'approval/decided'])
  expect(question).toEqual({ id: question.id, toolName: 'bash', callId: 'c', reason: 'why' })
  expect(answer).toEqual({ id: question.id, outcome: 'rejected' })
})

test('only allowed-once is a grant: nobody there, a throw and an unknown word are unavailable', async () => {
  const nobody = await approvals()
  expect((await nobody.ask()).outcome).toBe('unavailable')
  const throwing = await approvals({
    answer: async () => {
      throw new Error('lost the connection')
    },
  })
  expect((await throwing.ask()).outcome).toBe('unavailable')
  for (const word of ['yes', true, undefined, { outcome: 'always' }]) {
    const odd = await approvals({ answer: async () => word as never })
    expect((await odd.ask()).outcome).toBe('unavailable')
  }
  const yes = await approvals({ answer: async () => 'allowed-once' })
  expect((await yes.ask()).outcome).toBe('allowed-once')
})

test('under the policy never nobody is asked, and the refusal is logged all the same', async () => {
  let asked = false
  const never = await approvals({
    policy: 'never',
    answer: async () => {
      asked = true
      return 'allowed-once'
    },
  })
  expect((await never.ask()).outcome).toBe('rejected')
  expect(asked).toBe(false)
  expect(never.log()).toHaveLength(2)
})

test("an aborted question is cancelled at once, and a late answer is nobody's", async () => {
  let answer: (value: ApprovalAnswer) => void = () => {}
  const late = await approvals({
    answer: () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  })
  const controller = new AbortController()
  const asking = late.ask({ signal: controller.signal })
  controller.abort()
  expect((await asking).outcome).toBe('cancelled')
  answer('allowed-once')
  await new Promise((resolve) => setImmediate(resolve))
  expect(late.log()).toHaveLength(2)
  expect((await late.ask({ signal: AbortSignal.abort() })).outcome).toBe('cancelled')
})

test('outside a turn there is no question, and nothing is logged', async () => {
  const idle = await approvals({ openTurn: false })
  await expect(idle.ask()).rejects.toThrow('approval.request() outside an open turn')
  expect(idle.session.events).toHaveLength(0)
})

test('a session may have its own policy; a switch is logged, told to the model, and checked', async () => {
  const { ctx, agent, session, injected, ask } = await approvals({ answer: async () => 'allowed-once' })
  ctx.approval.setPolicy(agent, 'never')
  expect(ctx.approval.policyOf(session)).toBe('never')
  expect((await ask()).outcome).toBe('rejected')
  expect(injected).toMatchObject([
    { content: [{ text: 'The approval policy changed from "ask" to "never" (changed by the user).' }] },
  ])
  const before = session.events.length
  expect(() => ctx.approval.setPolicy(agent, 'always' as never)).toThrow(
    'approval policy must be one of "ask" or "never"',
  )
  ctx.approval.setPolicy(agent, 'never')
  expect(session.events.length).toBe(before)
})

test('the model is told the policy, and whether anybody can answer', async () => {
  const told = ({ ctx, agent }: Awaited<ReturnType<typeof approvals>>) => ctx.systemPrompt.runtimeContext(agent)?.text
  expect(told(await approvals({ answer: async () => 'rejected' }))).toContain(
    'Approval policy: ask. Operations that require approval may ask through the configured answerers; without an available answerer, the request fails closed.',
  )
  expect(told(await approvals())).toContain('Approval policy: ask. No one is present to answer in this run')
  expect(told(await approvals({ policy: 'never' }))).toContain('Approval prompts are disabled in this session')
})
