import { type Command, InvalidArgumentError, Option } from 'commander'

export interface TerminalStartup {
  /** The first prompt, or undefined. */
  readonly prompt: string | undefined
  readonly model: string | undefined
  readonly effort: string | undefined
  readonly permissionMode: string | undefined
  readonly continue: boolean
  /** An id; `true` opens the picker; undefined starts anew. */
  readonly resume: string | true | undefined
  readonly forkSession: boolean
  readonly sessionId: string | undefined
  readonly noSession: boolean
  readonly cwd: string | undefined
  /** One line after another, no screen control. */
  readonly plain: boolean
}

const modes = ['read-only', 'workspace-write', 'danger-full-access']

/** Throws commander's error after having written its text; exit code 0 for help, else a usage error. */
export function parseTerminalArgs(
  program: Command,
  argv: readonly string[],
  write: { out(text: string): void; err(text: string): void },
): TerminalStartup {
  program
    .name('dsh')
    .usage('[options] [prompt...]')
    .description('An interactive session in this directory.')
    .argument('[prompt...]', 'the first prompt')
    .option('-m, --model <id>', 'model of this session, [provider/]model[:effort]', nonEmpty)
    .option('--effort <level>', 'reasoning effort: off, low, high, max, or what the model knows', nonEmpty)
    .addOption(new Option('--permission-mode <mode>', 'what tools may change').choices(modes))
    .option('-c, --continue', 'go on with the latest session of this directory')
    .option('-r, --resume [id]', 'resume a session; without an id choose one')
    .option('--fork-session', 'with --continue or --resume: work on a copy')
    .option('--session-id <id>', 'id of the new session', nonEmpty)
    .option('--no-session', 'keep no log on disk')
    .option('-C, --cd <dir>', 'work in this directory', nonEmpty)
    .option('--plain', 'line mode: no screen control')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: write.out, writeErr: write.err })
  program.parse([...argv], { from: 'user' })
  const options = program.opts<{
    model?: string
    effort?: string
    permissionMode?: string
    continue?: boolean
    resume?: string | true
    forkSession?: boolean
    sessionId?: string
    session: boolean
    cd?: string
    plain?: boolean
  }>()
  if (options.continue && options.resume !== undefined)
    program.error('error: --continue and --resume are mutually exclusive')
  if (options.forkSession && !options.continue && options.resume === undefined) {
    program.error('error: --fork-session needs --continue or --resume')
  }
  const prompt = program.args.join(' ')
  return {
    prompt: prompt.trim() === '' ? undefined : prompt,
    model: options.model,
    effort: options.effort,
    permissionMode: options.permissionMode,
    continue: options.continue === true,
    resume: options.resume,
    forkSession: options.forkSession === true,
    sessionId: options.sessionId,
    noSession: !options.session,
    cwd: options.cd,
    plain: options.plain === true,
  }
}

function nonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('it is empty.')
  return value
}
