import type { Composition } from '@dsh/compose'
import { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import { audit, type Provides } from './audit.ts'
import { createDiagnostics, type LogLevel } from './diagnostics.ts'
import { type LoadModule, type MountedRow, mountRows, settle } from './mount.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import type { LaunchEnvironment } from './types.ts'

export interface BootOptions {
  readonly composition: Composition
  readonly load: LoadModule
  readonly provides: Provides
  readonly args: readonly string[]
  readonly environment: LaunchEnvironment
  /** Absolute path of the home. */
  readonly homePath: (...segments: string[]) => string
  readonly logLevel: LogLevel
  readonly stderr: (line: string) => void
  readonly exit: (code: number) => void
}

export interface Host {
  readonly ctx: Context
  readonly shutdown: Shutdown
  readonly rows: readonly MountedRow[]
}

/** Some rows do not run; `message` has one line for each. */
export class BootError extends DshError {
  constructor(lines: readonly string[]) {
    super('BOOT', lines.join('\n'), { name: 'BootError' })
  }
}

/** Provides the facts, mounts the rows, waits until nothing moves, audits; then the surfaces may start. */
export async function boot(options: BootOptions): Promise<Host> {
  const ctx = new Context()
  const shutdown = createShutdown({ dispose: () => ctx.fiber.dispose(), exit: options.exit })
  const diagnostics = createDiagnostics(options.logLevel, options.stderr)
  ctx.logger.exporter(diagnostics.exporter)
  const ready = provideFacts(ctx, options, shutdown)
  const stopListening = shutdown.listen()
  shutdown.done.then(stopListening)

  let rows: readonly MountedRow[] = []
  const started = (async () => {
    rows = await mountRows(ctx, options.composition.rows, { load: options.load, home: options.homePath })
    await settle(rows)
  })()
  await Promise.race([started, shutdown.requested])
  if (shutdown.code !== undefined) return { ctx, shutdown, rows }

  const faults = audit(options.composition, rows, options.provides)
  if (faults.length > 0) {
    diagnostics.discard()
    shutdown.request(1)
    await shutdown.done
    throw new BootError(faults)
  }
  diagnostics.open()
  ready()
  return { ctx, shutdown, rows }
}

function provideFacts(ctx: Context, options: BootOptions, shutdown: Shutdown): () => void {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const args = Object.freeze([...options.args])
  ctx.provide('cmdlineArgs', { get: () => args })
  ctx.provide('appExit', (code: number) => shutdown.request(code))
  ctx.provide('launchEnvironment', options.environment)
  ctx.provide('dshHomePath', options.homePath)
  ctx.provide('hostReady', { wait: () => opened })
  return open
}
