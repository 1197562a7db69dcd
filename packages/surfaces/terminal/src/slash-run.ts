import type { Agent } from '@dsh/agent'
import { errorText } from '@dsh/core'
import type { SelectItem } from '@mariozechner/pi-tui'
import { exportTarget } from './export-target.ts'
import { checkEffort, readModel, recordChoice, unlistedNote } from './model-choice.ts'
import { oneLine } from './sanitize.ts'
import { type OpenRequest, resumable } from './session-control.ts'
import { keyHelp, ownCommands } from './slash.ts'
import type { TerminalHost } from './terminal-host.ts'

export interface SlashContext {
  readonly host: TerminalHost
  agent(): Agent | undefined
  notice(text: string, tone?: 'info' | 'warn' | 'bad'): void
  pick(title: string, items: readonly SelectItem[], preview?: (item: SelectItem) => string): Promise<string | undefined>
  /** Asks until `accept` takes what was typed (it gives the reason when it does not): true. False: the person left. */
  askSecret(title: string, accept: (secret: string) => Promise<string | undefined>): Promise<boolean>
  open(request: OpenRequest): Promise<boolean>
  leave(): void
  today(): Date
}

export async function runOwnCommand(slash: SlashContext, name: string, args: string): Promise<void> {
  const { host, notice } = slash
  const agent = slash.agent()
  if (agent === undefined) return
  switch (name) {
    case 'help':
      for (const line of keyHelp) notice(line)
      notice(
        [...ownCommands, ...host.commands(agent)]
          .map((command) => `/${command.name} — ${command.description}`)
          .join('\n'),
      )
      return
    case 'model':
      await chooseModel(slash, agent, args)
      return
    case 'effort':
      await chooseEffort(slash, agent, args)
      return
    case 'new':
      if (idle(slash, agent)) await slash.open({ kind: 'new' })
      return
    case 'resume': {
      if (!idle(slash, agent)) return
      const id = args === '' ? await chooseSession(slash) : args
      if (id !== undefined) await slash.open({ kind: 'resume', id, fork: false })
      return
    }
    case 'fork':
      if (idle(slash, agent) && (await slash.open({ kind: 'resume', id: agent.session.id, fork: true }))) {
        notice(`this is a copy: ${slash.agent()?.session.id}`)
      }
      return
    case 'cd':
      if (args === '') notice(`directory: ${agent.session.cwd ?? host.cwd}`)
      else await host.changeDirectory(agent, args)
      return
    case 'cost':
      for (const line of host.cost(agent)) notice(line)
      return
    case 'export':
      notice(`written: ${await host.exportSession(agent, exportTarget(args))}`)
      return
    case 'doctor':
      notice((await host.doctor()).join('\n'))
      return
    case 'login': {
      const stored = await slash.askSecret('API key (DEEPSEEK_API_KEY); it is not shown', async (key) => {
        try {
          await host.storeKey(key)
          return undefined
        } catch (error) {
          return errorText(error)
        }
      })
      if (stored) notice('stored; the next request uses it')
      return
    }
    case 'exit':
      slash.leave()
      return
    default:
      return
  }
}

function idle(slash: SlashContext, agent: Agent): boolean {
  if (agent.status === 'idle') return true
  slash.notice('a turn is running; Esc cancels it', 'warn')
  return false
}

async function chooseModel(slash: SlashContext, agent: Agent, args: string): Promise<void> {
  const models = await slash.host.models()
  const chosen =
    args !== ''
      ? args
      : await slash.pick(
          'Model of the next request',
          models.map((model) => ({
            value: `${model.provider}/${model.id}`,
            label: model.id,
            description: model.description ?? model.provider,
          })),
        )
  if (chosen === undefined) return
  const choice = await readModel(slash.host, chosen, agent.options.provider)
  agent.configure(choice)
  recordChoice(agent.session, choice)
  const unlisted = await unlistedNote(slash.host, choice)
  slash.notice(unlisted ?? `model: ${chosen}`, unlisted === undefined ? 'info' : 'warn')
}

async function chooseEffort(slash: SlashContext, agent: Agent, args: string): Promise<void> {
  const { host, notice } = slash
  const known = await host.efforts(agent.options)
  if (args === '' && (known === undefined || known.length === 0)) {
    notice(`model "${agent.options.model}" has no efforts to choose from`, 'warn')
    return
  }
  const chosen =
    args !== ''
      ? args
      : await slash.pick(
          'Reasoning effort',
          (known ?? []).map((effort) => ({ value: effort, label: effort })),
        )
  if (chosen === undefined) return
  try {
    await checkEffort(host, agent.options, chosen)
  } catch (error) {
    notice(errorText(error), 'warn')
    return
  }
  agent.configure({ reasoningEffort: chosen })
  recordChoice(agent.session, { reasoningEffort: chosen })
  notice(`effort: ${chosen}`)
}

/** What a start begins with. Who leaves the picker wanted none of the sessions, and no new one either: undefined. */
export async function beginWith(
  slash: SlashContext,
  first: OpenRequest | 'choose',
  fork: boolean,
): Promise<OpenRequest | undefined> {
  if (first !== 'choose') return first
  const id = await chooseSession(slash)
  return id === undefined ? undefined : { kind: 'resume', id, fork }
}

async function chooseSession(slash: SlashContext): Promise<string | undefined> {
  const stored = await resumable(slash.host)
  if (stored.length === 0) {
    slash.notice('there is no stored session yet')
    return undefined
  }
  const previews = new Map<string, string>()
  await Promise.all(
    stored.slice(0, 30).map(async (session) => {
      previews.set(session.header.id, await slash.host.preview(session.header.id).catch(() => ''))
    }),
  )
  return slash.pick(
    'Sessions',
    stored.slice(0, 500).map((session) => ({
      value: session.header.id,
      label: oneLine(session.title ?? session.prompt ?? session.header.id, 60),
      description: `${age(session.updatedAt, slash.today())} · ${session.header.cwd ?? 'no directory'}`,
    })),
    (item) => previews.get(item.value) ?? '',
  )
}

export function age(time: number, now: Date): string {
  const minutes = Math.max(0, Math.round((now.getTime() - time) / 60_000))
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`
  return `${Math.round(minutes / 1440)} days ago`
}
