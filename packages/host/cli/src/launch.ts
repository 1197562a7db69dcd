import { join } from 'node:path'
import { boot, LOG_LEVELS, type LogLevel, skipText } from '@dsh/host'
import { type LaunchRequest, UsageError } from './argv.ts'
import { builtins } from './builtins.ts'
import { calmEngine } from './engine.ts'
import { layerEnvironment } from './environment.ts'
import { resolveHome } from './home.ts'
import { knownConfigs } from './known-configs.ts'
import { composeProfile, type LayerOptions, userFiles } from './layers.ts'
import { moduleLoader, stackFrame, stackMark } from './load-module.ts'
import { initialiseProfile, readProfile, templateNames } from './profile.ts'

/** Runs a profile until something asks to exit; gives the exit code. */
export async function launch(request: LaunchRequest): Promise<number> {
  const home = resolveHome()
  const environment = layerEnvironment({ env: process.env, cwd: process.cwd(), home, warn: stderr })
  const name = request.profile ?? (request.print ? 'headless' : interactiveProfile())
  const profile = readProfile(home, name, request.safe ? 'template' : 'own')
  const layers: LayerOptions = {
    home,
    cwd: process.cwd(),
    patches: request.patches,
    scope: request.safe ? 'safe' : 'all',
  }
  const composition = await composeProfile(profile, layers)
  for (const skip of composition.skips) stderr(`dsh: ${skipText(skip)}`)
  if (request.strict && composition.skips.length > 0) return 1
  if (composition.rows.length === 0) {
    stderr(`dsh: profile "${name}" composes no rows`)
    return 1
  }
  initialiseProfile(profile)
  const host = await boot({
    composition,
    load: moduleLoader(profile.dir),
    knownConfig: knownConfigs(),
    provides: (row) => builtins[row]?.provides ?? [],
    stackMark,
    stackFrame,
    args: request.args,
    environment,
    homePath: (...segments) => join(home, ...segments),
    logLevel: logLevel(request.verbosity),
    stderr,
    exit: (code) => process.exit(code),
    ...(request.safe
      ? {}
      : { reload: { files: userFiles(profile, home), recompose: () => composeProfile(profile, layers) } }),
  })
  if (host.shutdown.code === undefined) calmEngine(host.ctx)
  const onIdle = () => {
    const off = host.ctx.hostRows.disabled().map(({ id }) => id)
    const note = off.length === 0 ? '' : ` (disabled: ${off.join(', ')})`
    stderr(`dsh: no row of profile "${name}" keeps running${note}; see --dump-config`)
    host.shutdown.request(0)
  }
  process.once('beforeExit', onIdle)
  const code = await host.shutdown.done
  process.off('beforeExit', onIdle)
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

/** The profile of a bare `dsh`. */
function interactiveProfile(): string {
  if (process.stdin.isTTY && process.stdout.isTTY && templateNames().includes('terminal')) return 'terminal'
  throw new UsageError('error: --profile <name> is required')
}

function logLevel(verbosity: LaunchRequest['verbosity']): LogLevel {
  if (verbosity !== undefined) return verbosity === 'verbose' ? 'debug' : 'error'
  const wanted = process.env['DSH_LOG']
  return LOG_LEVELS.find((level) => level === wanted) ?? 'warn'
}

function stderr(line: string): void {
  process.stderr.write(`${line}\n`)
}
