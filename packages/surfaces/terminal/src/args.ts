import { statSync } from 'node:fs'
import path from 'node:path'
import { optionFault } from '@dsh/core'
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

interface Flags {
  readonly model?: string
  readonly effort?: string
  readonly permissionMode?: string
  readonly continue?: boolean
  readonly resume?: string | true
  readonly forkSession?: boolean
  readonly sessionId?: string
  readonly session: boolean
  readonly cd?: string
  readonly plain?: boolean
}

/** Throws commander's error after having written its text; exit code 0 for help, else a usage error. */
export function parseTerminalArgs(
  program: Command,
  argv: readonly string[],
  write: { out(text: string): void; err(text: string): void },
  launcherOptions: readonly string[] = [],
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
    .option('--session-id <id>', 'id of the new session')
    .option('--no-session', 'keep no log on disk')
    .option('-C, --cd <dir>', 'work in this directory')
    .option('--plain', 'line mode: no screen control')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: write.out,
      writeErr: (text) => write.err(`${optionFault(text, launcherOptions)}\n`),
    })
    .addHelpText('after', "\nThe launcher's options (--patch, --safe, …; see dsh --help) stand before these.")
  program.parse([...argv], { from: 'user' })
  const options = program.opts<Flags>()
  const fault = faultOf(options)
  if (fault !== undefined) program.error(`error: ${fault}`)
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

/** What cannot be done together or at all, in the words of the headless surface. */
function faultOf({ continue: latest, resume, forkSession, sessionId, session, cd }: Flags): string | undefined {
  const stored = latest === true || resume !== undefined
  if (latest && resume !== undefined) return '--continue and --resume are mutually exclusive'
  if (forkSession && !stored) return '--fork-session needs --continue or --resume'
  if (stored && sessionId !== undefined && !forkSession)
    return '--session-id names a new session: it goes with --continue or --resume only together with --fork-session'
  if (stored && !session) return '--no-session cannot go on with a stored session'
  if (sessionId === '' || resume === '') return 'a session id cannot be empty'
  if (cd !== undefined && statSync(path.resolve(cd), { throwIfNoEntry: false })?.isDirectory() !== true)
    return `--cd: ${cd} is not a directory`
  return undefined
}

function nonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('it is empty.')
  return value
}
