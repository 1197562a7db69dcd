import { execFile } from 'node:child_process'
import { lstat, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Agent } from '@dsh/agent'
import type {} from '@dsh/agent-default-model'
import type {} from '@dsh/attachment-local'
import type {} from '@dsh/commands'
import type { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import type {} from '@dsh/credentials-local'
import type {} from '@dsh/host'
import type {} from '@dsh/jobs-local'
import type {} from '@dsh/permission-presets'
import type { SandboxReport } from '@dsh/sandbox'
import type { Session } from '@dsh/session'
import type {} from '@dsh/token-meter'
import type { ApprovalAnswer } from '@dsh/user-approval'
import { costLines } from './cost.ts'
import { textOf } from './items.ts'
import { pendingChoice } from './model-choice.ts'
import { oneLine } from './sanitize.ts'
import type { StatusFacts } from './status-line.ts'
import type { TerminalHost } from './terminal-host.ts'

const keyName = 'DEEPSEEK_API_KEY'

/** The surface's view of the mounted rows. Optional rows are looked up when they are needed. */
export function createTerminalHost(
  ctx: Context,
  options: { readonly cwd: string; readonly version: string },
): TerminalHost {
  let report: SandboxReport | undefined
  const refreshReport = async () => {
    const probe = ctx.get('sandbox')?.report()
    report = (await probe?.catch(() => undefined)) ?? report
  }
  let known = refreshReport()
  const store = () => {
    const persistence = ctx.get('sessionPersistence')
    if (persistence === undefined)
      throw new DshError('TERMINAL', 'this composition keeps no sessions (no session-persistence row)')
    return persistence
  }
  const resolvePath = (agent: Agent, typed: string) =>
    path.resolve(agent.session.cwd ?? options.cwd, typed.replace(/^~(?=$|\/)/, process.env['HOME'] ?? '~'))
  return {
    version: options.version,
    cwd: options.cwd,
    home: ctx.dshHomePath(),
    createAgent: (request) => ctx.agents.create(request),
    defaultModel: () => ctx.agentDefaultModel.current(),
    setPermissionMode(agent, mode) {
      const presets = ctx.get('permissionPresets')
      if (presets?.optionOf(mode) === undefined)
        throw new DshError('TERMINAL', `this composition has no permission preset "${mode}"`)
      presets.set(agent.session, mode)
    },
    async resume(id) {
      return store().resume(id)
    },
    async fork(id, newId) {
      return store().fork(id, newId === undefined ? {} : { id: newId })
    },
    async flush(session) {
      await ctx.get('sessionPersistence')?.flush(session)
    },
    async sessions(cwd) {
      return store().list(cwd === undefined ? {} : { cwd })
    },
    async isStored(id) {
      return (await ctx.get('sessionPersistence')?.locate(id)) !== undefined
    },
    async preview(id) {
      const { events } = await store().inspect(id)
      const prompts = events.flatMap((event) =>
        event.type === 'user/message' && event.data.source.kind === 'user'
          ? [oneLine(textOf(event.data.content), 200)]
          : [],
      )
      return prompts
        .slice(-4)
        .map((prompt) => `❯ ${prompt}`)
        .join('\n')
    },
    onEvent: (listener) => ctx.on('session/event', listener),
    onStatus: (listener) => ctx.on('agent/status', (agent) => listener(agent)),
    onApproval: (answer) =>
      ctx.on(
        'approval/request',
        async (request): Promise<ApprovalAnswer> => answer(request, request.signal ?? new AbortController().signal),
      ),
    onNotice: (listener) => ctx.on('host/notice', (text) => listener(text)),
    commands: (agent) =>
      (ctx.get('commands')?.list(agent) ?? []).map((command) => ({
        name: command.name,
        description: command.description,
        complete: (prefix: string) =>
          (command.complete?.(agent, prefix) ?? []).map((value) => ({ value, label: value })),
      })),
    async runCommand(agent, name, args) {
      const commands = ctx.get('commands')
      if (commands === undefined) return { ok: false, text: 'this composition has no commands row' }
      const reply = await commands.run(agent, args === '' ? `/${name}` : `/${name} ${args}`)
      return { ok: reply.kind === 'success', text: reply.text ?? '' }
    },
    models: () => ctx.llm.listModels(),
    providers: () => ctx.llm.providers().map(({ id }) => id),
    async efforts({ provider, model }) {
      if (provider === undefined || model === undefined) return undefined
      try {
        return (await ctx.llm.resolveModel(provider, model)).reasoning?.efforts.map(({ id }) => id) ?? []
      } catch {
        return undefined
      }
    },
    async files(agent, query, signal) {
      return (await ctx.get('fileReferences')?.complete(agent, query, signal)) ?? []
    },
    sandboxKnown: () => known,
    status: (agent) => statusOf(ctx, agent, report),
    async readPicture(ref) {
      const attachments = ctx.get('attachments')
      if (attachments === undefined)
        throw new DshError('TERMINAL', 'this composition keeps no pictures (no attachment row)')
      return attachments.read(ref)
    },
    jobs: (agent) => ctx.get('jobs')?.active(agent) ?? [],
    cost: (agent) => {
      const meter = ctx.get('tokenMeter')
      return meter === undefined ? ['this composition has no token meter'] : costLines(meter.totals(agent.session))
    },
    async exportSession(agent, target) {
      const exists = async (file: string) => (await lstat(file).catch(() => undefined)) !== undefined
      const named = (suffix: string) => resolvePath(agent, `${agent.session.id}${suffix}.${target.format}`)
      let file = target.file === undefined ? named('') : resolvePath(agent, target.file)
      if (target.file !== undefined && (await exists(file)))
        throw new DshError('TERMINAL', `${file} exists already; nothing was written`)
      for (let number = 2; await exists(file); number++) file = named(`-${number}`)
      await ctx.get('sessionPersistence')?.flush(agent.session)
      await runSelf(['sessions', 'export', agent.session.id, '--format', target.format, '--output', file])
      return file
    },
    async changeDirectory(agent, directory) {
      const target = resolvePath(agent, directory)
      const info = await stat(target).catch(() => undefined)
      if (info === undefined) throw new DshError('TERMINAL', `cannot go to "${target}": not found`)
      if (!info.isDirectory()) throw new DshError('TERMINAL', `cannot go to "${target}": not a directory`)
      agent.session.append('session/cwd', { cwd: target }, { ignorable: true })
      return target
    },
    async doctor() {
      known = refreshReport()
      return (await runSelf(['doctor'])).trimEnd().split('\n')
    },
    async keySource() {
      const described = await ctx.get('credentials')?.describe(keyName)
      if (described !== undefined) return described.configured ? sourceText(described.source) : undefined
      return ctx.launchEnvironment.get(keyName) === undefined ? undefined : 'the environment'
    },
    async storeKey(key) {
      const credentials = ctx.get('credentials')
      if (credentials === undefined)
        throw new DshError('TERMINAL', 'this composition stores no credentials (no credentials row)')
      await credentials.set(keyName, key)
    },
  }
}

function sourceText(source: string | undefined): string {
  switch (source) {
    case 'env':
      return 'the environment'
    case 'file':
      return 'dsh login'
    case 'project-env':
      return '.env here'
    case 'user-env':
      return '.env at home'
    default:
      return 'somewhere'
  }
}

function statusOf(ctx: Context, agent: Agent, report: SandboxReport | undefined): StatusFacts {
  const { session } = agent
  const meter = ctx.get('tokenMeter')
  const totals = meter?.totals(session)
  const header = session.requestHeader?.config
  const window = lastWindow(session)
  const jobs = ctx.get('jobs')?.active(agent).length
  const { provider = header?.provider, model = header?.model ?? 'no model' } = agent.options
  const moved = header !== undefined && (provider !== header.provider || model !== header.model)
  const effort =
    header === undefined
      ? agent.options.reasoningEffort
      : (session.fold(pendingChoice)?.reasoningEffort ?? (moved ? undefined : header.reasoningEffort))
  return {
    model,
    ...(effort === undefined ? {} : { effort }),
    mode: ctx.get('sandboxPolicy')?.resolve({ session }).mode ?? 'unconfined',
    policy: ctx.get('approval')?.policyOf(session) ?? 'no approvals',
    ...(report === undefined
      ? {}
      : { enforcement: { level: report.enforcement, ...(report.rung === undefined ? {} : { rung: report.rung }) } }),
    ...(meter === undefined || window === undefined ? {} : { contextUsed: meter.contextTokens(session) / window }),
    ...(totals?.cacheHitRatio === undefined ? {} : { cacheHit: totals.cacheHitRatio }),
    ...(totals === undefined || totals.calls === 0 ? {} : { costUsd: totals.costUsd, costKnown: totals.costKnown }),
    ...(jobs === undefined ? {} : { jobs }),
    directory: shortPath(session.cwd ?? process.cwd()),
  }
}

const lastWindowFold = {
  initial: () => undefined as number | undefined,
  apply: (state: number | undefined, event: { type: string; data: unknown }) =>
    event.type === 'request/context' ? (event.data as { contextWindow?: number }).contextWindow : state,
}

function lastWindow(session: Session): number | undefined {
  return session.fold(lastWindowFold)
}

function shortPath(directory: string): string {
  const home = process.env['HOME']
  return home !== undefined && home !== '/' && (directory === home || directory.startsWith(`${home}/`))
    ? `~${directory.slice(home.length)}`
    : directory
}

/** Runs this same program for a command that is not a row's business. What it printed counts, not how it ended. */
async function runSelf(args: readonly string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [process.argv[1] ?? '', ...args], { maxBuffer: 1 << 24 })
  const { stdout, stderr } = await run.catch((error: { stdout?: string; stderr?: string }) => ({
    stdout: error.stdout ?? '',
    stderr: error.stderr ?? '',
  }))
  if (stdout === '' && stderr !== '') throw new DshError('TERMINAL', stderr.trim())
  return stdout
}
