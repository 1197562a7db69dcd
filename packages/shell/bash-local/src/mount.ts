import type { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import { captureDirectory } from './captures.ts'
import { createExecutor, type ExecutorOptions } from './executor.ts'

/** Provides `ctx.shell`, with capture files below the home that end with the row. */
export function mountShell(ctx: Context, options: Omit<ExecutorOptions, 'captureDir'>): void {
  const home = ctx.get('dshHomePath')
  if (home === undefined) {
    ctx.provide('shell', createExecutor(options))
    return
  }
  const captures = captureDirectory(home('spill', 'captures'))
  ctx.effect(() => {
    captures.sweepOld().catch((error: unknown) => ctx.logger.warn(error))
    return () => captures.remove()
  })
  ctx.provide('shell', createExecutor({ ...options, captureDir: captures.dir }))
}
