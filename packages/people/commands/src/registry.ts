import { randomUUID } from 'node:crypto'
import type { Agent } from '@dsh/agent'
import { type Context, Service, scopeOf } from '@dsh/cordis'
import { errorText } from '@dsh/core'
import { commandError, commandErrors } from './errors.ts'
import { isCommandName, parseCommandLine } from './line.ts'
import type { Command, CommandReply, CommandsService, RunCommandOptions } from './types.ts'

interface Entry {
  /** The agent it belongs to; undefined = every agent's. */
  readonly owner: object | undefined
  readonly command: Command
}

export class Commands extends Service implements CommandsService {
  private readonly entries: Entry[] = []

  constructor(ctx: Context) {
    super(ctx, 'commands')
  }

  register(command: Command): () => void {
    const { name } = command
    if (!isCommandName(name))
      throw commandError(commandErrors.invalidName, `command name ${JSON.stringify(name)} must match [a-z][a-z0-9-]*`)
    const entry = { owner: scopeOf(this.ctx), command }
    return this.ctx.effect(() => {
      if (this.entries.some(({ owner, command: other }) => owner === entry.owner && other.name === name))
        throw commandError(commandErrors.duplicateName, `command "/${name}" is already registered`)
      this.entries.push(entry)
      return () => void this.entries.splice(this.entries.indexOf(entry), 1)
    }, `command /${name}`)
  }

  list(agent?: Agent): readonly Command[] {
    const own = this.entries.filter(({ owner }) => agent !== undefined && owner === agent)
    const names = new Set(own.map(({ command }) => command.name))
    const shared = this.entries.filter(({ owner, command }) => owner === undefined && !names.has(command.name))
    return [...own, ...shared].map(({ command }) => command).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  get(name: string, agent?: Agent): Command | undefined {
    return this.list(agent).find((command) => command.name === name)
  }

  async run(agent: Agent, line: string, options: RunCommandOptions = {}): Promise<CommandReply> {
    const parsed = parseCommandLine(line)
    if (parsed === undefined) return { kind: 'error', text: 'a command starts with / and a name' }
    const { name, args } = parsed
    const command = this.get(name, agent)
    if (command === undefined) return { kind: 'error', text: `unknown command "/${name}"` }

    const { session } = agent
    const commandId = randomUUID()
    const { source = { kind: 'user' }, signal = new AbortController().signal } = options
    session.append('command/run', { commandId, name, ...(args === '' ? {} : { args }), source })
    const reply = await command
      .run({ agent, args, commandId, signal })
      .catch((error: unknown): CommandReply => ({ kind: 'error', text: errorText(error) }))
    session.append('command/done', {
      commandId,
      kind: reply.kind,
      ...(reply.text === undefined ? {} : { text: reply.text }),
      ...(reply.sourceEventSeq === undefined ? {} : { sourceEventSeq: reply.sourceEventSeq }),
    })
    return reply
  }
}
