import { type Context, notify, scopeTarget } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/fs'
import type {} from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'
import * as z from 'zod'
import { editorTool } from './editor.ts'
import { description } from './texts.ts'

export const name = 'tool-str-replace-editor'
export const inject = ['tools', 'fs']

export const Config = lazySchema(() =>
  z.strictObject({
    /** UTF-16 units of one output. */
    maxOutputChars: z
      .number()
      .refine(
        (given) => Number.isSafeInteger(given) && given > 0,
        'tool-str-replace-editor: maxOutputChars must be a positive safe integer',
      )
      .default(16_000),
    description: z
      .string()
      .refine((given) => given.trim() !== '', 'tool-str-replace-editor: description must be non-empty')
      .default(description),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const { fs } = ctx
  const audience = (exec: ToolExecution) => scopeTarget(exec.agent ?? exec)
  if (fs.sandboxMode !== undefined && ctx.get('sandboxPolicy') === undefined)
    throw new Error('tool-str-replace-editor: the mounted filesystem confines but ctx.sandboxPolicy is missing')
  const deps = {
    fs,
    maxOutputChars: config.maxOutputChars,
    writeIntent: (target, exec) => ctx.waterfall(audience(exec), 'fs/write-intent', target, exec, () => undefined),
    editIntent: (target, exec) => ctx.waterfall(audience(exec), 'fs/edit-intent', target, exec, () => undefined),
    observed: (target, observation, exec) => notify(ctx, audience(exec), 'fs/observed', target, observation, exec),
    policy: (exec) =>
      fs.sandboxMode === undefined ? undefined : ctx.get('sandboxPolicy')?.resolve({ session: exec.agent?.session }),
  } satisfies Parameters<typeof editorTool>[0]
  ctx.tools.register(editorTool(deps, config.description))
}
