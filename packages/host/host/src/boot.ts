import type { Composition } from '@dsh/compose'
import { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import { audit, type Provides } from './audit.ts'
import { createDiagnostics, type LogLevel } from './diagnostics.ts'
import { provideFacts } from './facts.ts'
import { faultLine, type StackMark } from './fault-line.ts'
import { allMounted, type LoadModule, type MountedRow, mountRows, settle } from './mount.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import type { LaunchEnvironment } from './types.ts'

export interface BootOptions {
  readonly composition: Composition
  readonly load: LoadModule
  readonly provides: Provides
  /** Default: no row is recognised in a stack. */
  readonly stackMark?: StackMark
  readonly args: readonly string[]
  readonly environment: LaunchEnvironment
  /** A path below the home. */
  readonly homePath: (...segments: string[]) => string
  readonly logLevel: LogLevel
  /** Prints one line. */
  readonly stderr: (line: string) => void
  /** Leaves the process at once; for a second signal, and when disposal takes too long. */
  readonly exit: (code: number) => void
  /** How long disposal may take. */
  readonly disposeLimitMs?: number
}

export interface Host {
  readonly ctx: Context
  readonly shutdown: Shutdown
  readonly rows: readonly MountedRow[]
}

/** Some rows do not run; the message has one line for each. */
export class BootError extends DshError {
  constructor(lines: readonly string[]) {
    super('BOOT', lines.join('\n'), { name: 'BootError' })
  }
}

/** Provides the facts, mounts the rows, waits until nothing moves, audits; only then the surfaces may start. */
export async function boot(options: BootOptions): Promise<Host> {
  const ctx = new Context()
  const shutdown = createShutdown({
    dispose: () => ctx.fiber.dispose(),
    exit: options.exit,
    ...(options.disposeLimitMs === undefined ? {} : { limitMs: options.disposeLimitMs }),
  })
  const diagnostics = createDiagnostics(options.logLevel, options.stderr)
  ctx.logger.exporter(diagnostics.exporter)
  const openHost = provideFacts(ctx, options, shutdown)
  const host = { ctx, shutdown, rows: [] as readonly MountedRow[] }
  const stopSignals = shutdown.listen()
  const stopWatching = watchLateFaults(host, options)
  shutdown.done.then(stopSignals)
  shutdown.done.then(stopWatching)

  const started = (async () => {
    host.rows = await mountRows(ctx, options.composition.rows, { load: options.load, home: options.homePath })
    await settle(host.rows)
  })()
  await Promise.race([started, shutdown.requested])
  if (shutdown.code !== undefined) return host

  const faults = audit(options.composition, host.rows, options.provides)
  if (faults.length > 0) {
    diagnostics.discard()
    shutdown.request(1)
    await shutdown.done
    throw new BootError(faults)
  }
  diagnostics.open()
  openHost()
  return host
}

/** A rejection or throw that nobody catches ends the program in order, with the row's name and exit code 1. */
function watchLateFaults(host: { rows: readonly MountedRow[]; shutdown: Shutdown }, options: BootOptions): () => void {
  let first = true
  const onFault = (error: unknown) => {
    if (!first) return
    first = false
    options.stderr(`dsh: ${faultLine(error, [...allMounted(host.rows)], options.stackMark ?? (() => undefined))}`)
    if (process.env['DSH_DEBUG'] && error instanceof Error) options.stderr(error.stack ?? '')
    host.shutdown.request(1)
  }
  process.on('unhandledRejection', onFault)
  process.on('uncaughtException', onFault)
  return () => {
    process.off('unhandledRejection', onFault)
    process.off('uncaughtException', onFault)
  }
}
