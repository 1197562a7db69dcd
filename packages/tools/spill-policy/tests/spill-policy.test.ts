import { readFileSync } from 'node:fs'
import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import * as spillLocal from '@dsh/spill-local'
import * as systemPrompt from '@dsh/system-prompt'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import * as tools from '@dsh/tools'
import { describe, expect, it } from 'vitest'
import * as spillPolicy from '../src/index.ts'

const echo = (name: string) => ({
  name: `echo-${name}`,
  inject: ['tools'],
  apply: async (ctx: Context) => {
    ctx.tools.register<{ size: number; end?: string }, { text: string }>({
      name,
      description: 'd',
      parameters: { type: 'object', properties: {} },
      output: {
        schema: { type: 'object', properties: {} },
        render: (_args, value) => [{ type: 'text', text: value.text }],
      },
      execute: async ({ size, end = '' }) => ({ text: 'y'.repeat(size) + end }),
    })
  },
})

async function boot(config: object = { maxInlineBytes: 50_000 }, store = true) {
  const home = await tempWorkspace()
  const rows = [systemPrompt, tools, ...(store ? [spillLocal] : []), echo('bash'), echo('read')].map((module) => ({
    module,
  }))
  const { ctx, stderr } = await bootRows([...rows, { module: spillPolicy, config }], { home: home.root })
  const run = async (name: string, args: object) => {
    const result = await ctx.get('tools')?.execute({
      callId: 'c',
      name,
      arguments: JSON.stringify(args),
      agent: { session: { id: 's1' } } as Agent,
      signal: new AbortController().signal,
    })
    const [block] = result?.content ?? []
    return block?.type === 'text' ? block.text : ''
  }
  return { run, home, stderr }
}

describe('the spill policy', () => {
  it('stores a long result and shows an excerpt with the way to the rest', async () => {
    const { run, home } = await boot()
    const text = await run('bash', { size: 60_001 })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000)
    const [, path = ''] =
      /\n\n\(Omitted \d+ bytes\. Full formatted result stored at: (\S+)\. Use read with offset\/limit, or grep this path to search within it\.\)$/.exec(
        text,
      ) ?? []
    expect(path.startsWith(home.path('spill'))).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe('y'.repeat(60_001))
  })

  it('keeps the exit marker last', async () => {
    const { run } = await boot()
    expect(await run('bash', { size: 60_000, end: '\n[exit code: 2]' })).toMatch(
      /search within it\.\)\n\[exit code: 2\]$/,
    )
  })

  it('leaves short results and those of read alone', async () => {
    const { run } = await boot()
    expect(await run('bash', { size: 50_000 })).toHaveLength(50_000)
    expect(await run('read', { size: 60_000 })).toHaveLength(60_000)
  })

  it('keeps a result inline when it cannot be stored, and says so to the log', async () => {
    const { run, stderr } = await boot(undefined, false)
    expect(await run('bash', { size: 60_000 })).toHaveLength(60_000)
    expect(stderr.join('\n')).toContain('no store')
  })

  it('is off without a limit, and refuses one that is none', async () => {
    const { run } = await boot({})
    expect(await run('bash', { size: 60_000 })).toHaveLength(60_000)
    expect(spillPolicy.Config.safeParse({ maxInlineBytes: -1 }).error?.issues[0]?.message).toBe(
      'spill-policy: maxInlineBytes must be a non-negative integer (got -1)',
    )
  })
})
