import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/session'
import type {} from '@dsh/system-prompt'
import type {} from '@dsh/tools'
import * as z from 'zod'
import { indexTree, listLive } from './listing.ts'
import { bestMatches } from './score.ts'
import type { FileReference, FileReferences } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    fileReferences: FileReferences
  }
}

export const name = 'file-reference-local'

const positive = (key: string, value: number) =>
  z
    .number()
    .refine(
      (given) => Number.isSafeInteger(given) && given > 0,
      `file-reference-local: ${key} must be a positive safe integer`,
    )
    .default(value)

export const Config = lazySchema(() =>
  z
    .strictObject({
      maxResults: positive('maxResults', 20),
      /** Of the index of one workspace. */
      maxEntries: positive('maxEntries', 10_000),
      excludedDirectories: z
        .array(
          z
            .string()
            .refine(
              (name) => name.trim() !== '' && !/[/\\]/.test(name) && name !== '.' && name !== '..',
              'file-reference-local: excludedDirectories entries must be non-empty directory basenames',
            ),
        )
        .default(['.git', 'node_modules']),
    })
    .prefault({}),
)
export type Config = z.output<typeof Config>

/** What the row adds to the system prompt; by it a recording shows that the row was there. */
export const guidance =
  'A word like @src/app.ts in a user message names a file or directory of the working directory (quoted when it has spaces). Its content is not attached: read it when the task needs it.'

export async function apply(ctx: Context, config: Config): Promise<void> {
  const excluded = new Set(config.excludedDirectories)
  /** One per agent, until a tool may have changed the tree. */
  let indexes = new WeakMap<Agent, { readonly root: string; readonly entries: Promise<readonly FileReference[]> }>()

  function indexOf(agent: Agent, root: string): Promise<readonly FileReference[]> {
    const known = indexes.get(agent)
    if (known?.root === root) return known.entries
    const entries = indexTree(root, excluded, config.maxEntries)
    indexes.set(agent, { root, entries })
    return entries
  }

  ctx.on('tools/result', () => {
    indexes = new WeakMap()
  })
  ctx.provide('fileReferences', {
    async complete(agent, query, signal) {
      const root = agent.session.cwd ?? process.cwd()
      if (query === '' || /[/\\]/.test(query)) return await listLive(root, query, excluded, config.maxResults)
      const entries = await indexOf(agent, root)
      signal?.throwIfAborted()
      return bestMatches(entries, query, config.maxResults)
    },
  })
  ctx.inject(['systemPrompt', 'tools'], (inner) => {
    inner.systemPrompt.section({
      name: 'file-reference',
      order: 99,
      literal: true,
      text: (agent) => (inner.tools.get('read', agent) === undefined ? undefined : guidance),
    })
  })
}
