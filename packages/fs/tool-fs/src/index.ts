import type { Agent } from '@dsh/agent'
import type {} from '@dsh/attachment-local'
import type {} from '@dsh/commands'
import { type Context, notify, scopeTarget } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/fs'
import type {} from '@dsh/llm'
import type {} from '@dsh/sandbox'
import type {} from '@dsh/session'
import type {} from '@dsh/system-prompt'
import { guide, type ToolExecution } from '@dsh/tools'
import type {} from '@dsh/user-approval'
import * as z from 'zod'
import { applyPatchTool } from './apply-patch.ts'
import type { FileToolDeps } from './deps.ts'
import { editTool } from './edit.ts'
import { diffCommand, undoCommand } from './history/commands.ts'
import { createHistory, type History } from './history/recorder.ts'
import { readTool } from './read.ts'
import { readImageTool } from './read-image.ts'
import { sessionRoute } from './route.ts'
import { callPolicy, escalationFields } from './sandbox.ts'
import { applyPatchGuidance, editGuidance, readGuidance, writeGuidance } from './texts.ts'
import { writeTool } from './write.ts'

export const name = 'tool-fs'
export const inject = ['tools', 'fs', 'systemPrompt']

const cap = (key: string, value: number) =>
  z
    .number()
    .refine((given) => Number.isSafeInteger(given) && given > 0, `tool-fs: ${key} must be a positive integer`)
    .default(value)

export const Config = lazySchema(() =>
  z.strictObject({
    read: z.boolean().default(true),
    readImage: z.boolean().default(true),
    write: z.boolean().default(true),
    edit: z.boolean().default(true),
    applyPatch: z.boolean().default(false),
    /** Default and maximum lines of one read. */
    readLimit: cap('readLimit', 2000),
    /** Characters kept per line. */
    readMaxLineLength: cap('readMaxLineLength', 2000),
    /** Bytes of shown text per read. */
    readMaxBytes: cap('readMaxBytes', 51_200),
    /** Files from here on are streamed. */
    readStreamMinSize: cap('readStreamMinSize', 10 * 1024 * 1024),
    /** Further lines of advice behind the first line of a result or an error. */
    hints: z.boolean().default(true),
  }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const { fs, tools } = ctx
  if (fs.sandboxMode !== undefined && ctx.get('sandboxPolicy') === undefined)
    throw new Error('tool-fs: the mounted filesystem confines but ctx.sandboxPolicy is missing')
  const history = createHistory({
    persistence: () => ctx.get('sessionPersistence'),
    sessions: () => ctx.get('sessions'),
    warn: (error) => ctx.logger.warn(error),
  })
  const deps = depsOf(ctx, config, history)
  const escalation = escalationFields(fs)

  if (config.read) {
    tools.register(readTool(deps, config))
    guide(ctx, { tool: 'read', order: 100, text: () => readGuidance })
  }
  if (config.readImage)
    ctx.inject(['attachments', 'tools'], (inner) => {
      inner.tools.register(
        readImageTool({ ...deps, attachments: inner.attachments, route: sessionRoute(() => ctx.get('llm')) }),
      )
    })
  if (config.write) {
    tools.register(writeTool(deps, escalation))
    const canEdit = (agent: Agent) => tools.get('edit', agent) !== undefined
    guide(ctx, { tool: 'write', order: 101, text: (agent) => writeGuidance(canEdit(agent)) })
  }
  if (config.edit) {
    tools.register(editTool(deps, escalation))
    guide(ctx, { tool: 'edit', order: 102, text: () => editGuidance })
  }
  ctx.inject(['commands'], (inner) => {
    const commandDeps = { fs, history, policies: () => ctx.get('sandboxPolicy') }
    inner.commands.register(diffCommand(commandDeps))
    inner.commands.register(undoCommand(commandDeps))
  })
  if (config.applyPatch) {
    tools.register(applyPatchTool(deps, escalation))
    guide(ctx, { tool: 'apply_patch', order: 102, text: () => applyPatchGuidance })
  }
}

function depsOf(ctx: Context, config: Config, history: History): FileToolDeps {
  const { fs } = ctx
  const audience = (exec: ToolExecution) => scopeTarget(exec.agent ?? exec)
  return {
    fs,
    hints: config.hints,
    writeIntent: (target, exec) => ctx.waterfall(audience(exec), 'fs/write-intent', target, exec, () => undefined),
    editIntent: (target, exec) => ctx.waterfall(audience(exec), 'fs/edit-intent', target, exec, () => undefined),
    observed: (target, observation, exec) => notify(ctx, audience(exec), 'fs/observed', target, observation, exec),
    policyFor: (args, exec, path) =>
      callPolicy(args, exec, path, { fs, policies: ctx.get('sandboxPolicy'), approval: ctx.get('approval') }),
    changed: (change, exec) => history.record(change, exec),
  }
}
