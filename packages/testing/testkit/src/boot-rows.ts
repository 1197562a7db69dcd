import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { compose, readPatches } from '@dsh/compose'
import type { Context } from '@dsh/cordis'
import { boot } from '@dsh/host'
import { atTestEnd } from './workspace.ts'

/** A row by its module: `{ module: await import('@dsh/tools'), config: {…} }`. */
export interface RowSpec {
  /** Default: the module's own name. */
  readonly id?: string
  readonly module: unknown
  readonly config?: unknown
}

export interface BootedRows {
  readonly ctx: Context
  /** Everything the host wrote to stderr, line by line. */
  readonly stderr: readonly string[]
  /** Ends the tree and waits until it is gone. Also happens when the test ends. */
  dispose(): Promise<void>
}

/** Mounts real rows through the real host, with a home of its own. Throws the boot report when a row does not run. */
export async function bootRows(rows: readonly RowSpec[], options: { readonly home: string }): Promise<BootedRows> {
  await mkdir(options.home, { recursive: true })
  const modules = new Map(rows.map((row, at) => [`test:${at}`, row.module]))
  const stderr: string[] = []
  const inserted = rows.map((row, at) => ({
    id: row.id ?? String((row.module as { name?: string }).name ?? `row-${at}`),
    name: `test:${at}`,
    ...(row.config === undefined ? {} : { config: row.config }),
  }))
  const layer = readPatches({ label: 'test', kind: 'patch', file: '(test)' }, [{ insert: inserted }])
  const host = await boot({
    composition: compose([layer]),
    load: async (name) => modules.get(name),
    provides: () => [],
    args: [],
    environment: { get: (name) => process.env[name], getFrom: () => undefined },
    homePath: (...segments) => path.join(options.home, ...segments),
    logLevel: 'warn',
    stderr: (line) => void stderr.push(line),
    exit: () => {},
  })
  const dispose = async () => {
    host.shutdown.request(0)
    await host.shutdown.done
  }
  atTestEnd(dispose)
  return { ctx: host.ctx, stderr, dispose }
}
