import type { Agent } from '@dsh/agent'

/** What a command said. `text` is for the person, never for the model. */
export interface CommandReply {
  readonly kind: 'success' | 'error'
  readonly text?: string
  /** The event that the command's effect is, where there is one. */
  readonly sourceEventSeq?: number
}

export interface CommandCall {
  readonly agent: Agent
  /** What stood behind the name, trimmed; '' for nothing. */
  readonly args: string
  /** Names this run in the log; effects cite it. */
  readonly commandId: string
  readonly signal: AbortSignal
}

export interface Command {
  /** Without the slash: lower-case letters, digits, `-`. */
  readonly name: string
  /** One line for `/help`. */
  readonly description: string
  /** What may follow the name, as people write it: `[read-only|workspace-write]`. */
  readonly usage?: string
  /** A throw is an error reply with its message. */
  run(call: CommandCall): Promise<CommandReply>
  /** Words that may follow, for completion. */
  complete?(agent: Agent, prefix: string): readonly string[]
}

export interface RunCommandOptions {
  readonly signal?: AbortSignal
  /** Who typed it; logged. Default: `{ kind: 'user' }`. */
  readonly source?: { readonly kind: string; readonly [field: string]: unknown }
}

/** `ctx.commands` */
export interface CommandsService {
  /** Ends with the calling row; through `agent.ctx` it is that agent's alone. */
  register(command: Command): () => void
  /** By name. */
  list(agent?: Agent): readonly Command[]
  get(name: string, agent?: Agent): Command | undefined
  /** Runs a line such as `/permission read-only`. Never rejects: an unknown name is an error reply that is not logged. */
  run(agent: Agent, line: string, options?: RunCommandOptions): Promise<CommandReply>
}
