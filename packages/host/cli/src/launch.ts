import { join } from 'node:path'
import { type Composition, nearest, slipOf, suggestion, walkRows } from '@dsh/compose/core'
import { DshError } from '@dsh/core'
import { boot, LOG_LEVELS, type LogLevel, skipText } from '@dsh/host'
import { FLAGS, type LaunchRequest, UsageError } from './argv.ts'
import { builtins } from './builtins.ts'
import { commands } from './commands/command.ts'
import { calmEngine } from './engine.ts'
import { layerEnvironment } from './environment.ts'
import { homeFault, openHome } from './home.ts'
import { knownConfigs } from './known-configs.ts'
import { composeProfile, type LayerOptions, userFiles } from './layers.ts'
import { moduleLoader, stackFrame, stackMark } from './load-module.ts'
import { initialiseProfile, type Profile, profileError, readProfile, templateNames } from './profile.ts'

/** Runs a profile until something asks to exit; gives the exit code. */
export async function launch(request: LaunchRequest): Promise<number> {
  const known: { composition?: Composition } = {}
  try {
    return await run(request, known)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { failedLaunch } = await import('./failed-launch.ts')
    return await failedLaunch(error, request, known.composition)
  }
}

async function run(request: LaunchRequest, known: { composition?: Composition }): Promise<number> {
  if (request.loneWord !== undefined) refuseMistypedCommand(request.loneWord)
  const home = openHome()
  const environment = layerEnvironment({ env: process.env, cwd: process.cwd(), home, warn: stderr })
  const name = request.profile ?? (request.print ? 'headless' : interactiveProfile(request.args[0]))
  refuseMistypedFlag(name, request.args[0])
  const level = logLevel(request.verbosity)
  const profile = readProfile(home, name, request.safe ? 'template' : 'own')
  const layers: LayerOptions = {
    home,
    cwd: process.cwd(),
    patches: request.patches,
    scope: request.safe ? 'safe' : 'all',
  }
  const composition = await composeProfile(profile, layers)
  known.composition = composition
  const skips = composition.skips.map(skipText)
  if (request.strict && skips.length > 0) throw new DshError('COMPOSITION', skips.join('\n'))
  for (const skip of skips) stderr(`dsh: ${skip}`)
  if (composition.rows.length === 0)
    throw profileError(`profile "${name}" composes no rows; its bundles are listed in ${profile.manifest}`)
  if (level === 'debug') for (const line of compositionLines(composition, profile, home)) stderr(line)
  try {
    initialiseProfile(profile)
  } catch (error) {
    throw homeFault(home, error)
  }
  const host = await boot({
    composition,
    load: moduleLoader(profile.dir),
    knownConfig: knownConfigs(),
    provides: (row) => builtins[row]?.provides ?? [],
    stackMark,
    stackFrame,
    args: request.args,
    launcherOptions: FLAGS,
    environment,
    homePath: (...segments) => join(home, ...segments),
    logLevel: level,
    stderr,
    exit: (code) => process.exit(code),
    ...(request.safe
      ? {}
      : { reload: { files: userFiles(profile, home), recompose: () => composeProfile(profile, layers) } }),
  })
  if (host.shutdown.code === undefined) calmEngine(host.ctx)
  let idle: string | undefined
  const onIdle = () => {
    const off = host.ctx.hostRows.disabled().map(({ id }) => id)
    const note = off.length === 0 ? '' : ` (disabled: ${off.join(', ')})`
    idle = `no row of profile "${name}" keeps running${note}; see --dump-config`
    stderr(`dsh: ${idle}`)
    const unheard = request.args.length > 0 && !host.argsRead
    if (unheard) {
      stderr(`dsh: nothing took ${JSON.stringify(request.args.join(' '))}; a profile that takes a task is made by`)
      stderr('dsh:   dsh profile new <name> --bundle @dsh/bundle-base --bundle @dsh/bundle-headless')
    }
    // A surface that is composed away has done nothing of what it is there for.
    host.shutdown.request(unheard || surfaces.includes(name) ? 1 : 0)
  }
  process.once('beforeExit', onIdle)
  const code = await host.shutdown.done
  process.off('beforeExit', onIdle)
  if (idle !== undefined && name === 'headless') {
    const { writeDocument } = await import('./failed-launch.ts')
    await writeDocument(request, { code: 'NOTHING_RAN', message: idle })
  }
  return finish(code)
}

/** Everything is disposed: leaves as soon as the output is written, whatever handle some row left open. */
async function finish(code: number): Promise<number> {
  setTimeout(() => process.exit(code), 1000).unref()
  await Promise.all([written(process.stdout), written(process.stderr)])
  return process.exit(code)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })
}

/** The profile of a bare `dsh`; `word` may be a command that was mistyped. */
function interactiveProfile(word: string | undefined): string {
  if (atTerminal() && templateNames().includes('terminal')) return 'terminal'
  if (word === undefined) throw new UsageError('error: --profile <name> is required')
  const flag = word.startsWith('--') ? nearest(word, FLAGS) : undefined
  if (flag !== undefined) throw new UsageError(`error: unknown option '${word}' — did you mean '${flag}'?`)
  const command = nearest(word, Object.keys(commands))
  const hint = command === undefined ? ' (no terminal here: dsh -p "task")' : ` — did you mean "dsh ${command}"?`
  throw new UsageError(`error: --profile <name> is required${hint}`)
}

/** A single word that is nearly a command is no task: a session would send it to the model. */
function refuseMistypedCommand(word: string): void {
  const hint = suggestion(word, Object.keys(commands))
  if (hint === '') return
  const asTask = `dsh ${atTerminal() ? '--' : '-p'} ${word}`
  throw new UsageError(`error: unknown command "${word}"${hint} (as a task: ${asTask})`)
}

/** The profiles that come with dsh. Their surfaces have no options that are one letter away from the launcher's; others may. */
const surfaces: readonly string[] = ['headless', 'terminal']

function refuseMistypedFlag(profile: string, word: string | undefined): void {
  if (word === undefined || !word.startsWith('--') || !surfaces.includes(profile)) return
  const flag = slipOf(word.replace(/=.*/, ''), FLAGS)
  if (flag !== undefined) throw new UsageError(`error: unknown option '${word}' — did you mean '${flag}'?`)
}

/** For `--verbose`: what runs, and which files say so. */
function compositionLines({ layers, rows }: Composition, profile: Profile, home: string): string[] {
  const files = layers.filter(({ patches }) => patches.length > 0).map(({ label }) => label)
  const count = [...walkRows(rows)].length
  return [`dsh: profile "${profile.name}" of ${home}: ${count} rows from ${files.join(', ')}`]
}

function atTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true
}

function logLevel(verbosity: LaunchRequest['verbosity']): LogLevel {
  if (verbosity !== undefined) return verbosity === 'verbose' ? 'debug' : 'error'
  const wanted = process.env['DSH_LOG'] || 'warn'
  const known = LOG_LEVELS.find((level) => level === wanted)
  if (known === undefined) stderr(`dsh: DSH_LOG=${wanted} is no level: ${LOG_LEVELS.join(', ')}; warn is used`)
  return known ?? 'warn'
}

function stderr(line: string): void {
  process.stderr.write(`${line}\n`)
}
