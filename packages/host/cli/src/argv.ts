/** What the launcher takes for itself; everything behind the first word that is not one of its flags is the app's. */
export interface LaunchRequest {
  readonly kind: 'launch'
  readonly profile: string | undefined
  /** `-p`: one task, then exit. */
  readonly print: boolean
  readonly patches: readonly string[]
  readonly dump: 'config' | 'default' | undefined
  readonly json: boolean
  readonly strict: boolean
  readonly safe: boolean
  readonly verbosity: 'quiet' | 'verbose' | undefined
  readonly args: readonly string[]
  /** The only word, standing where a command would: it may be one that was mistyped. */
  readonly loneWord?: string
}

export type Request =
  | LaunchRequest
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'command'; readonly name: string; readonly args: readonly string[] }

export class UsageError extends Error {}

/** One that the command's own help answers. */
export class OptionError extends UsageError {}

/** Reads the launcher's grammar. Throws `UsageError`, whose message is the line to print. */
export function parseArgv(argv: readonly string[], commands: readonly string[]): Request {
  const words = [...argv]
  let profile: string | undefined
  const patches: string[] = []
  const on = new Set<string>()

  while (words.length > 0) {
    const word = words[0] as string
    const [flag, inline] = splitFlag(word)
    if (flag === '--profile' || flag === '--patch') {
      words.shift()
      const value = inline ?? words.shift()
      const operand = flag === '--profile' ? 'name' : 'path'
      if (value === undefined) throw new UsageError(`error: option '${flag} <${operand}>' argument missing`)
      if (value === '') throw new UsageError(`error: ${flag} needs a ${operand}`)
      if (flag === '--profile') profile = value
      else patches.push(value)
    } else if ((word === '--help' || word === '-h') && profile === undefined && !on.has('-p')) {
      return { kind: 'help' }
    } else if (word === '--version' || word === '-V') {
      return { kind: 'version' }
    } else if (SWITCHES.has(word)) {
      on.add(word === '--print' ? '-p' : word)
      words.shift()
    } else break
  }

  const bare = profile === undefined && !on.has('-p')
  if (bare && words[0] !== undefined && commands.includes(words[0])) {
    if (patches.length > 0 || on.size > 0)
      throw new UsageError(`error: ${words[0]} takes none of the launcher's flags before it`)
    return { kind: 'command', name: words[0], args: words.slice(1) }
  }
  const printed = bare && takePrintFlag(words)
  // With -p a single separator is the end of all options, as everywhere; the reference's form has two.
  const printing = printed || on.has('-p')
  const [word] = words
  const lone = bare && !printed && words.length === 1 && word !== undefined && /^[^-\s]\S*$/.test(word)
  if (words[0] === '--' && (!printing || words[1] === '--')) words.shift()
  const dump = dumpOf(on, patches, words)
  if (on.has('--json') && dump === undefined)
    throw new UsageError('error: --json goes with --dump-config; for runs it is --output-format json')
  return {
    kind: 'launch',
    profile,
    print: printing,
    patches,
    dump,
    json: on.has('--json'),
    strict: on.has('--strict'),
    safe: on.has('--safe'),
    verbosity: on.has('--verbose') ? 'verbose' : on.has('--quiet') ? 'quiet' : undefined,
    args: words,
    ...(lone ? { loneWord: word } : {}),
  }
}

const SWITCHES = new Set([
  '-p',
  '--print',
  '--dump-config',
  '--dump-default-config',
  '--json',
  '--strict',
  '--safe',
  '--quiet',
  '--verbose',
])

/** All that the launcher knows, spelled out. */
export const FLAGS = ['--profile', '--patch', '--help', '--version', ...SWITCHES].filter((flag) =>
  flag.startsWith('--'),
)

function splitFlag(word: string): [string, string | undefined] {
  const equals = word.indexOf('=')
  return word.startsWith('--') && equals > 0 ? [word.slice(0, equals), word.slice(equals + 1)] : [word, undefined]
}

/** `dsh --output-format json -p "task"`: the flag means the same behind the app's own options. */
function takePrintFlag(words: string[]): boolean {
  const end = words.indexOf('--')
  const at = words.findIndex((word, i) => (word === '-p' || word === '--print') && (end < 0 || i < end))
  if (at < 0) return false
  words.splice(at, 1)
  return true
}

function dumpOf(on: Set<string>, patches: readonly string[], words: readonly string[]): LaunchRequest['dump'] {
  const config = on.has('--dump-config')
  const defaults = on.has('--dump-default-config')
  if (config && defaults) throw new UsageError('error: --dump-config and --dump-default-config are mutually exclusive')
  if (!config && !defaults) return undefined
  if (words.length > 0) {
    const list = words.map((word) => JSON.stringify(word)).join(' ')
    throw new UsageError(`error: config dumps take no app arguments, got ${list}`)
  }
  if (defaults && patches.length > 0) {
    throw new UsageError('error: --dump-default-config prints the bundle layers and takes no --patch')
  }
  return config ? 'config' : 'default'
}
