import type { Composition } from '@dsh/compose/core'
import { Context } from '@dsh/cordis'
import { DshError, errorText } from '@dsh/core'
import { audit, type Provides } from './audit.ts'
import { createDiagnostics, type LogLevel } from './diagnostics.ts'
import { provideFacts } from './facts.ts'
import { faultLine, type StackFrame, type StackMark } from './fault-line.ts'
import { allMounted, type KnownConfig, type LoadModule, type MountedRow, type MountOptions, settle } from './mount.ts'
import { sayTo } from './notices.ts'
import { executePlan, planRows } from './reconcile.ts'
import { createReload } from './reload.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import type { LaunchEnvironment } from './types.ts'

export interface BootOptions {
  readonly composition: Composition
  readonly load: LoadModule
  readonly provides: Provides
  /** What a row's schema makes of a config, where that is known already; undefined: it is asked. */
  readonly knownConfig?: KnownConfig
  /** Default: no row is recognised in a stack. */
  readonly stackMark?: StackMark
  /** Default: a frame names its own file. */
  readonly stackFrame?: StackFrame
  readonly args: readonly string[]
  /** Long names of the options that the launcher takes for itself. */
  readonly launcherOptions?: readonly string[]
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
  /** For live changes: the files to watch, and how to compose anew. */
  readonly reload?: { readonly files: readonly string[]; readonly recompose: () => Composition | Promise<Composition> }
}

export interface Host {
  readonly ctx: Context
  readonly shutdown: Shutdown
  readonly rows: readonly MountedRow[]
  /** Whether some row has looked at the words that were left for the app. */
  readonly argsRead: boolean
  /** Makes this the running composition, or throws and leaves the last one running. Gives the ids that changed. */
  update(composition: Composition): Promise<readonly string[]>
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
    dispose: async () => {
      await reload?.stop()
      await ctx.fiber.dispose()
    },
    exit: options.exit,
    ...(options.disposeLimitMs === undefined ? {} : { limitMs: options.disposeLimitMs }),
  })
  const say = sayTo(ctx, options.stderr)
  const diagnostics = createDiagnostics(options.logLevel, say)
  ctx.logger.exporter(diagnostics.exporter)
  const tree = new RunningTree(ctx, options, () => shutdown.code !== undefined)
  const reload =
    options.reload === undefined
      ? undefined
      : createReload({
          ctx,
          ...options.reload,
          say,
          update: (composition) => tree.update(composition),
        })
  const facts = provideFacts(ctx, options, shutdown, reload, {
    disabled: () =>
      [...allMounted(tree.rows)]
        .filter(({ state }) => state === 'disabled')
        .map(({ row }) => ({ id: row.id, name: row.name })),
  })
  const stopSignals = shutdown.listen()
  const stopWatching = watchLateFaults(tree, shutdown, options)
  shutdown.done.then(stopSignals)
  shutdown.done.then(stopWatching)

  await Promise.race([tree.mount(), shutdown.requested])
  if (shutdown.code === undefined) {
    const faults = tree.audit()
    if (faults.length > 0) {
      diagnostics.discard()
      shutdown.request(1)
      await shutdown.done
      throw new BootError(faults)
    }
    diagnostics.open()
    facts.open()
  }
  return {
    ctx,
    shutdown,
    get rows() {
      return tree.rows
    },
    get argsRead() {
      return facts.argsRead()
    },
    update: (composition) => tree.update(composition),
  }
}

/** The rows that run now, and the way from them to others. */
class RunningTree {
  rows: readonly MountedRow[] = []
  private composition: Composition
  private readonly ctx: Context
  private readonly options: BootOptions
  private readonly mountOptions: MountOptions
  constructor(ctx: Context, options: BootOptions, closing: () => boolean) {
    this.ctx = ctx
    this.options = options
    this.composition = options.composition
    this.mountOptions = {
      load: options.load,
      home: options.homePath,
      realms: new Map(),
      closing,
      knownConfig: options.knownConfig,
    }
  }

  async mount(): Promise<void> {
    await this.become(this.composition)
  }

  audit(): string[] {
    return audit(this.composition, this.rows, this.options.provides)
  }

  async update(composition: Composition): Promise<readonly string[]> {
    const previous = this.composition
    const before = new Set([...allMounted(this.rows)])
    const plan = await planRows(this.ctx, this.rows, composition.rows, this.mountOptions)
    if (plan.faults.length > 0) throw new BootError(plan.faults.map(errorText))
    await this.become(composition, plan)
    const faults = this.audit()
    if (faults.length > 0) {
      await this.become(previous)
      throw new BootError(faults)
    }
    const started = [...allMounted(this.rows)].filter(
      (mounted) => !before.has(mounted) && mounted.children === undefined,
    )
    return [...new Set([...plan.removals, ...started].map((mounted) => mounted.row.id))]
  }

  private async become(composition: Composition, plan?: Awaited<ReturnType<typeof planRows>>): Promise<void> {
    const steps = plan ?? (await planRows(this.ctx, this.rows, composition.rows, this.mountOptions))
    this.composition = composition
    this.rows = await executePlan(this.ctx, steps, this.mountOptions.closing)
    await settle(this.rows)
  }
}

/** A rejection or throw that nobody catches ends the program in order, with the row's name and exit code 1. */
function watchLateFaults(tree: { rows: readonly MountedRow[] }, shutdown: Shutdown, options: BootOptions): () => void {
  let first = true
  const onFault = (error: unknown) => {
    if (!first) return
    first = false
    const { stackMark = () => undefined, stackFrame } = options
    options.stderr(`dsh: ${faultLine(error, [...allMounted(tree.rows)], stackMark, stackFrame)}`)
    if (process.env['DSH_DEBUG'] && error instanceof Error) options.stderr(error.stack ?? '')
    shutdown.request(1)
  }
  process.on('unhandledRejection', onFault)
  process.on('uncaughtException', onFault)
  return () => {
    process.off('unhandledRejection', onFault)
    process.off('uncaughtException', onFault)
  }
}
