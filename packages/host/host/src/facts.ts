import type { Context } from '@dsh/cordis'
import type { BootOptions } from './boot.ts'
import type { Shutdown } from './shutdown.ts'
import type { HostReload, HostRows } from './types.ts'

/** Provides what every row may know about its host; `open` lets the surfaces start. */
export function provideFacts(
  ctx: Context,
  {
    args,
    launcherOptions = [],
    environment,
    homePath,
  }: Pick<BootOptions, 'args' | 'launcherOptions' | 'environment' | 'homePath'>,
  shutdown: Shutdown,
  reload: HostReload | undefined,
  rows: HostRows,
): { readonly open: () => void; readonly argsRead: () => boolean } {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const frozen = Object.freeze([...args])
  let read = false
  ctx.provide('cmdlineArgs', {
    get() {
      read = true
      return frozen
    },
    launcherOptions,
  })
  ctx.provide('appExit', (code: number) => shutdown.request(code))
  ctx.provide('launchEnvironment', environment)
  ctx.provide('dshHomePath', homePath)
  ctx.provide('hostReady', { wait: () => opened })
  ctx.provide('hostRows', rows)
  if (reload !== undefined) ctx.provide('hostReload', { watch: reload.watch, reload: reload.reload })
  return { open, argsRead: () => read }
}
