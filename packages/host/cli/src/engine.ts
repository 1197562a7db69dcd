import { setFlagsFromString } from 'node:v8'
import type { Context } from '@dsh/cordis'
import type {} from '@dsh/session'

/**
 * Node 20's V8 compiles a function again, optimised, after little use, and each time it has to ask for one while a
 * step waits. From the second step of the first turn on it is told to take its time; later versions do so by themselves.
 * Not sooner: a flag that changes makes V8 refuse what was compiled ahead, Node's own modules among it.
 */
export function calmEngine(ctx: Context): void {
  if (!process.versions.v8.startsWith('11.')) return
  const stop = ctx.on('session/event', (_, event) => {
    if (event.type !== 'step/start' || event.data.step < 2) return
    stop()
    setFlagsFromString('--interrupt-budget=1000000')
  })
}
