import { type Context, notify } from '@dsh/cordis'

/** Whether a surface shows notices itself; a line on stderr would run into its screen. */
export function noticesHeard(ctx: Context): boolean {
  return ctx.events.dispatch('emit', ['host/notice', '']).length > 0
}

/** One line for the person: to the surface that listens for `host/notice`, else to stderr. */
export function sayTo(ctx: Context, stderr: (line: string) => void): (line: string) => void {
  return (line) => {
    if (noticesHeard(ctx)) notify(ctx, 'host/notice', line.replace(/^dsh: /, ''))
    else stderr(line)
  }
}
