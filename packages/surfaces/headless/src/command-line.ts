import { statSync } from 'node:fs'
import path from 'node:path'
import { optionFault } from '@dsh/core'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import {
  type HeadlessOptions,
  type OutputFormat,
  outputFormats,
  type SessionChoice,
  taskRequired,
  UsageError,
} from './options.ts'

export type Parsed =
  | { readonly kind: 'run'; readonly options: HeadlessOptions }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'usage'; readonly message: string }

interface Flags {
  readonly outputFormat: OutputFormat
  readonly continue?: true
  readonly resume?: string
  readonly forkSession?: true
  readonly sessionId?: string
  readonly session: boolean
  readonly model?: string
  readonly effort?: string
  readonly permissionMode?: string
  readonly maxTurns?: number
  readonly maxBudgetUsd?: number
  readonly maxWallTime?: number
  readonly cd?: string
  readonly outputLastMessage?: string
}

/** Reads the app's own words. `stdinIsTerminal` tells a missing task from one that is still to come through a pipe. */
export function parseCommandLine(
  args: readonly string[],
  {
    cwd,
    stdinIsTerminal,
    launcherOptions = [],
  }: { readonly cwd: string; readonly stdinIsTerminal: boolean; readonly launcherOptions?: readonly string[] },
): Parsed {
  let help = ''
  const program = grammar((text) => {
    help += text
  })
  try {
    program.parse(args, { from: 'user' })
    const task = taskOf(program.args)
    if (task === undefined && stdinIsTerminal) throw new UsageError(taskRequired)
    return { kind: 'run', options: resolve(program.opts<Flags>(), task, cwd) }
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'usage', message: error.message }
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: 'help', text: help }
    return { kind: 'usage', message: optionFault(error.message, launcherOptions) }
  }
}

/** What `--output-format` said, even where the rest of the line is wrong: an error comes in the format asked for. */
export function formatOf(args: readonly string[]): OutputFormat {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  const at = options.findLastIndex((word) => word === '--output-format' || word.startsWith('--output-format='))
  const word = options[at]
  const value = word?.includes('=') ? word.slice(word.indexOf('=') + 1) : options[at + 1]
  return outputFormats.find((format) => at >= 0 && format === value) ?? 'text'
}

function grammar(writeHelp: (text: string) => void): Command {
  return new Command('dsh --profile headless')
    .description('Do one task, print the answer, and exit.')
    .argument('[task...]', 'the task; without one, or with -, it is read from stdin')
    .addOption(new Option('--output-format <format>', 'what stdout carries').choices(outputFormats).default('text'))
    .option('-c, --continue', 'go on with the newest session of this directory')
    .option('-r, --resume <id>', 'go on with this session')
    .option('--fork-session', 'with --continue or --resume: work in a copy of that session')
    .option('--session-id <id>', 'the id of the new session')
    .option('--no-session', 'keep the session off the disk')
    .option('-m, --model <model>', 'model, or provider/model; :effort may follow')
    .option('--effort <effort>', 'reasoning effort')
    .addOption(
      new Option('--permission-mode <mode>', 'what the agent may touch').choices([
        'read-only',
        'workspace-write',
        'danger-full-access',
      ]),
    )
    .option('--max-turns <n>', 'stop after this many model requests', wholeNumber)
    .option('--max-budget-usd <usd>', 'stop when this much money is spent', positiveNumber)
    .option('--max-wall-time <time>', 'stop after this time: 90, 90s, 5m, 1h', duration)
    .option('-C, --cd <dir>', 'work in this directory')
    .option('--output-last-message <file>', 'write the last answer to this file too')
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeOut: writeHelp, writeErr: () => {} })
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', "\nThe launcher's options (--patch, --safe, …; see dsh --help) stand before these.")
}

function resolve(flags: Flags, task: string | undefined, cwd: string): HeadlessOptions {
  const { outputLastMessage } = flags
  return {
    task,
    format: flags.outputFormat,
    session: sessionChoice(flags),
    ephemeral: !flags.session,
    model: flags.model,
    effort: flags.effort,
    permissionMode: flags.permissionMode,
    maxTurns: flags.maxTurns,
    maxBudgetUsd: flags.maxBudgetUsd,
    maxWallMs: flags.maxWallTime,
    cwd: flags.cd === undefined ? cwd : directory(path.resolve(cwd, flags.cd), flags.cd),
    lastMessageFile: outputLastMessage === undefined ? undefined : path.resolve(cwd, outputLastMessage),
  }
}

function sessionChoice(flags: Flags): SessionChoice {
  const { resume, sessionId, forkSession = false } = flags
  const old = flags.continue === true || resume !== undefined
  const refuse = (text: string): never => {
    throw new UsageError(`error: ${text}`)
  }
  if (flags.continue === true && resume !== undefined) refuse('--continue and --resume are mutually exclusive')
  if (forkSession && !old) refuse('--fork-session needs --continue or --resume')
  if (old && sessionId !== undefined && !forkSession)
    refuse('--session-id names a new session: it goes with --continue or --resume only together with --fork-session')
  if (old && !flags.session) refuse('--no-session cannot go on with a stored session')
  if (sessionId === '' || resume === '') refuse('a session id cannot be empty')
  if (resume !== undefined) return { kind: 'resume', id: resume, fork: forkSession, forkId: sessionId }
  if (flags.continue === true) return { kind: 'continue', fork: forkSession, forkId: sessionId }
  return { kind: 'new', id: sessionId }
}

/** Words are joined by single spaces; a lone `-` asks for stdin, as does nothing at all. */
function taskOf(words: readonly string[]): string | undefined {
  if (words.length === 0 || (words.length === 1 && words[0] === '-')) return undefined
  const task = words.join(' ')
  if (task.trim() === '') throw new UsageError(taskRequired)
  return task
}

function directory(absolute: string, given: string): string {
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`error: --cd: ${given} is not a directory`)
  return absolute
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('expected a whole number of at least 1')
  return value
}

function positiveNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('expected a number above 0')
  return value
}

const secondsPer = { s: 1, m: 60, h: 3600 } as const

/** Milliseconds. */
function duration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? []
  const seconds = Number(amount) * secondsPer[(unit ?? 's') as keyof typeof secondsPer]
  if (!(seconds > 0)) throw new InvalidArgumentError('expected a time such as 90, 90s, 5m or 1h')
  return Math.ceil(seconds * 1000)
}
