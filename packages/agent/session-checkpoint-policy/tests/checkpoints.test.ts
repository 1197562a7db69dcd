import type { Agent, PreStepDecision } from '@dsh/agent'
import { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import type { ToolExecution, ToolResult } from '@dsh/tools'
import { expect, it } from 'vitest'
import * as row from '../src/index.ts'

/** The real row on the real bus; the store is one that can be told to fail. */
async function scene() {
  const ctx = new Context()
  await ctx.plugin(sessionRow)
  const flushed: string[] = []
  let fails = false
  ctx.provide('sessionPersistence', {
    flush: async (session: Session) => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      if (fails) throw new Error('disk full')
      flushed.push(session.id)
    },
  } as never)
  ctx.provide('llm', {} as never)
  ctx.provide('tools', {} as never)
  await ctx.plugin(row)
  const session = ctx.sessions.create({ id: 's' })
  const agent = { session } as Agent
  const did: string[] = []
  return { ctx, session, agent, flushed, did, fail: () => (fails = true) }
}

const preStep = (s: Awaited<ReturnType<typeof scene>>, claimed: unknown[]) =>
  s.ctx.waterfall('agent/pre-step', { agent: s.agent, turn: 1, step: 1, claimed } as never, async () => {
    s.did.push('step')
    return { kind: 'enter', messages: [] } as PreStepDecision
  })
async function request(s: Awaited<ReturnType<typeof scene>>, sessionId: string | undefined) {
  const options = { provider: 'p', model: 'm', messages: [], sessionId } as unknown as GenerateOptions
  const chunks: StreamChunk[] = []
  const stream = s.ctx.waterfall('llm/stream', options, async function* () {
    s.did.push('request')
    yield { type: 'finish', reason: { kind: 'stop' } } as StreamChunk
  })
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
const execute = (s: Awaited<ReturnType<typeof scene>>, extra: Partial<ToolExecution>) =>
  s.ctx.waterfall(
    'tools/execute',
    { callId: 'c', signal: new AbortController().signal, agent: s.agent, ...extra } as ToolExecution,
    async () => {
      s.did.push('body')
      return { content: [], isError: false } as ToolResult
    },
  )

it('what was claimed, every request and every top-level call wait for the disk', async () => {
  const s = await scene()
  await preStep(s, [{}])
  expect(s.flushed.length).toBe(1)
  expect((await request(s, 's')).length).toBe(1)
  expect(s.flushed.length).toBe(2)
  await execute(s, {})
  expect(s.flushed.length).toBe(3)
  expect(s.did).toEqual(['step', 'request', 'body'])
})

it('a step that claims nothing, a request of no session and a nested call have nothing to wait for', async () => {
  const s = await scene()
  await preStep(s, [])
  await request(s, undefined)
  await request(s, 'not live')
  await execute(s, { parent: {} })
  expect(s.flushed).toEqual([])
  expect(s.did).toEqual(['step', 'request', 'request', 'body'])
})

it('nothing happens when the disk refuses', async () => {
  const s = await scene()
  s.fail()
  await expect(preStep(s, [{}])).rejects.toThrow('disk full')
  await expect(request(s, 's')).rejects.toThrow('disk full')
  await expect(execute(s, {})).rejects.toThrow('disk full')
  expect(s.did).toEqual([])
})

it('a call that was cancelled while its checkpoint was written does not run', async () => {
  const s = await scene()
  const controller = new AbortController()
  const pending = execute(s, { signal: controller.signal })
  controller.abort()
  expect(await pending).toMatchObject({ isError: true, error: { code: 'ABORTED_BEFORE_DISPATCH' } })
  expect(s.did).toEqual([])
})
