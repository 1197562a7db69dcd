import { homedir } from 'node:os'
import path from 'node:path'
import { type Agent, userMessage } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import type { UserMessage } from '@dsh/llm'
import type { ToolExecution } from '@dsh/tools'
import * as z from 'zod'
import { changesSince, type InstructionSource, identityOf, toldFiles } from './known.ts'
import { type Rendered, renderBaseline, renderChanges } from './render.ts'
import { createReader, nestedDirs, projectDirs, type Source } from './sources.ts'

export const name = 'agent-instructions'

export const Config = lazySchema(() =>
  z.strictObject({
    /** Of all instruction text in one message. */
    maxBytes: z.int().positive().default(65_536),
    /** A longer file is skipped. */
    maxSourceBytes: z.int().positive().default(1_048_576),
    /** Looked for in every directory, in this order. */
    files: z.array(z.string().min(1)).default(['AGENTS.md', 'CLAUDE.md', 'AGENTS.local.md', 'CLAUDE.local.md']),
    rootMarker: z.string().min(1).default('.git'),
  }),
)

/** Tools whose `file_path` shows that the agent works in a directory. */
const touching = new Set(['read', 'read_image', 'write', 'edit'])

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const homePath = ctx.get('dshHomePath') ?? ((...segments: string[]) => path.join(homedir(), '.dsh', ...segments))
  const read = createReader({ ...config, names: config.files, home: homePath() })
  /** Directories below the working directory that the agent touched. */
  const touched = new WeakMap<Agent, Set<string>>()

  const find = (agent: Agent, cwd: string): Source[] => {
    const project = projectDirs(cwd, config.rootMarker)
    const nested = [...(touched.get(agent) ?? [])].filter((dir) => !project.includes(dir)).sort()
    return [
      ...read(homePath(), 'user').filter(({ file }) => path.basename(file) === config.files[0]),
      ...[...project, ...nested].flatMap((dir) => read(dir, dir)),
    ]
  }

  const message = (agent: Agent, cwd: string): UserMessage | undefined => {
    for (const file of toldFiles(agent.session)?.keys() ?? []) touch(touched, agent, cwd, file)
    const sources = find(agent, cwd)
    const told = toldFiles(agent.session)
    if (told === undefined) {
      if (sources.length === 0) return undefined
      const changes = changesSince(new Map(), sources)
      const identity = { baseline: true as const, baselineIdentity: identityOf(sources) }
      return reminder(renderBaseline(sources, cwd, config.maxBytes), { ...identity, changes })
    }
    const changes = changesSince(told, sources)
    if (changes.length === 0) return undefined
    const nested = (file: string) => nestedDirs(cwd, file).length > 0
    return reminder(renderChanges(changes, sources, cwd, nested, config.maxBytes), { changes })
  }

  const reminder = (rendered: Rendered, facts: Omit<InstructionSource, 'kind' | 'form'>): UserMessage => {
    if (rendered.notice !== undefined) ctx.logger.warn(rendered.notice)
    const source = { kind: 'agent-instructions', form: 'instructions', ...facts } as InstructionSource
    return userMessage(rendered.text, source)
  }

  ctx.on('agent/pre-step', async ({ agent, step }, next) => {
    const decision = await next()
    const { cwd } = agent.session
    if (decision.kind !== 'enter' || cwd === undefined) return decision
    if (decision.messages.length === 0 && step === 1) return decision
    const instructions = message(agent, cwd)
    return instructions === undefined ? decision : { ...decision, messages: placed(decision.messages, instructions) }
  })

  ctx.on('tools/result', (exec: ToolExecution) => {
    const { agent, arguments: args } = exec
    const cwd = agent?.session.cwd
    if (agent === undefined || cwd === undefined || !touching.has(exec.name)) return
    if (typeof args?.file_path === 'string') touch(touched, agent, cwd, path.resolve(cwd, args.file_path))
  })
}

function touch(touched: WeakMap<Agent, Set<string>>, agent: Agent, cwd: string, file: string): void {
  const dirs = touched.get(agent) ?? new Set()
  for (const dir of nestedDirs(cwd, file)) dirs.add(dir)
  touched.set(agent, dirs)
}

/** Behind what was claimed, before the runtime context. */
function placed(messages: readonly UserMessage[], instructions: UserMessage): UserMessage[] {
  const at = messages.findIndex(({ source }) => source.kind === 'plugin' && source['form'] === 'snapshot')
  return at < 0 ? [...messages, instructions] : [...messages.slice(0, at), instructions, ...messages.slice(at)]
}
