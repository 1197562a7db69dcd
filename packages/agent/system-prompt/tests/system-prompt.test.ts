import type { Agent } from '@dsh/agent'
import { type Context, createScope } from '@dsh/cordis'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import * as row from '../src/index.ts'

const agent = { id: 'a' } as Agent
const values = { provider: 'p', model: 'm', cwd: '/w' }

async function prompts(config: unknown = {}): Promise<Context> {
  const home = await tempWorkspace()
  let inner: Context | undefined
  const apply = async (ctx: Context) => {
    inner = ctx
  }
  const user = { name: 'user', inject: ['systemPrompt'], apply }
  await bootRows([{ module: row, config }, { module: user }], { home: home.root })
  return inner!
}

test('the prompt is the identity line, the persona and the sections, in order, joined by blank lines', async () => {
  const ctx = await prompts({ persona: 'I am {{model}} in {{cwd}}.' })
  ctx.systemPrompt.section({ name: 'z', order: 105, text: 'Last.' })
  ctx.systemPrompt.section({ name: 'y', order: 100, text: () => undefined })
  ctx.systemPrompt.section({ name: 'x', order: 100, text: 'First.' })
  expect(ctx.systemPrompt.assemble(agent, values)).toBe(
    'You are an AI agent powered by dsh.\n\nI am m in /w.\n\nFirst.\n\nLast.',
  )
})

test('a variable that is unknown, malformed or without a value is an error that names the section', async () => {
  const ctx = await prompts()
  const assembled = (text: string, vars = {}) => {
    const undo = ctx.systemPrompt.section({ name: 's', order: 1, text })
    try {
      return ctx.systemPrompt.assemble(agent, vars)
    } finally {
      undo()
    }
  }
  expect(() => assembled('{{date}}')).toThrow(
    'unknown variable {{date}} in prompt section "s" (known: provider, model, cwd)',
  )
  expect(() => assembled('{{Model}}')).toThrow('malformed variable "{{Model}}" in prompt section "s"')
  expect(() => assembled('{{model')).toThrow('malformed variable')
  expect(() => assembled('{{model}}')).toThrow('variable {{model}} in prompt section "s" has no value here')
  const literal = ctx.systemPrompt.section({ name: 't', order: 1, text: 'as {{is}}', literal: true })
  expect(ctx.systemPrompt.assemble(agent, {})).toContain('as {{is}}')
  literal()
})

test('a value that contains braces is not expanded again', async () => {
  const ctx = await prompts({ persona: 'In {{cwd}}.' })
  expect(ctx.systemPrompt.assemble(agent, { cwd: '/{{model}}' })).toContain('In /{{model}}.')
})

test('a complete section is the whole prompt, and may silence the runtime context; two of them are an error', async () => {
  const ctx = await prompts({ persona: 'Only this.', complete: true, includeRuntimeContext: false })
  ctx.systemPrompt.section({ name: 'more', order: 1, text: 'Ignored.' })
  ctx.systemPrompt.context({ name: 'fact', order: 1, text: () => 'a fact' })
  expect(ctx.systemPrompt.assemble(agent, values)).toBe('Only this.')
  expect(ctx.systemPrompt.runtimeContext(agent)).toBeUndefined()
  ctx.systemPrompt.section({ name: 'rival', order: 1, text: 'Me.', complete: true })
  expect(() => ctx.systemPrompt.assemble(agent, values)).toThrow('both claim to be the complete prompt')
})

test('the runtime context is one text with its sections, in order, silent ones left out', async () => {
  const ctx = await prompts()
  expect(ctx.systemPrompt.runtimeContext(agent)).toBeUndefined()
  ctx.systemPrompt.context({ name: 'b', order: 115, text: () => 'B' })
  ctx.systemPrompt.context({ name: 'a', order: 110, text: () => 'A' })
  ctx.systemPrompt.context({ name: 'none', order: 1, text: () => '' })
  expect(ctx.systemPrompt.runtimeContext(agent)).toEqual({
    text: 'Current runtime context. This snapshot supersedes earlier runtime-context snapshots.\n\nA\n\nB',
    sections: [
      { name: 'a', text: 'A' },
      { name: 'b', text: 'B' },
    ],
  })
})

test("a section of one agent takes the place of everybody's section of that name", async () => {
  const ctx = await prompts()
  ctx.systemPrompt.section({ name: 's', order: 1, text: 'shared' })
  const scope = await createScope(ctx, agent)
  scope.ctx.systemPrompt.section({ name: 's', order: 1, text: 'own' })
  expect(ctx.systemPrompt.assemble(agent, values)).toMatch(/\n\nown$/)
  expect(ctx.systemPrompt.assemble({ id: 'b' } as Agent, values)).toMatch(/\n\nshared$/)
  expect(() => ctx.systemPrompt.section({ name: 's', order: 2, text: 'x' })).toThrow('already registered')
})
