import path from 'node:path'
import type { Context } from '@dsh/cordis'
import { errorAdvice, errorCode } from '@dsh/core'
import { LlmCode } from '@dsh/llm'
import pkg from '../package.json' with { type: 'json' }
import type { App } from './app.ts'
import { createTerminalHost } from './services.ts'
import { firstRequest } from './session-control.ts'
import './startup.ts'

/** The row that draws the session. It drives `ctx.agents` and draws `session/event`; nothing else knows of it. */
export const name = 'terminal'
export const inject = [
  'terminalStartup',
  'agents',
  'sessions',
  'agentDefaultModel',
  'llm',
  'launchEnvironment',
  'dshHomePath',
  'hostReady',
  'appExit',
]

/** The command line names something that is not there. */
const usageCodes: readonly string[] = [
  'SESSION_NOT_FOUND',
  'SESSION_ALREADY_EXISTS',
  LlmCode.UNSUPPORTED_REASONING_EFFORT,
]

export async function apply(ctx: Context): Promise<void> {
  const startup = ctx.terminalStartup
  const exit = ctx.appExit
  const ready = ctx.hostReady
  const cwd = startup.cwd === undefined ? process.cwd() : path.resolve(startup.cwd)
  const host = createTerminalHost(ctx, { cwd, version: pkg.version })
  const plain = startup.plain || process.env['TERM'] === 'dumb' || process.stdout.isTTY !== true

  ctx.effect(() => {
    let app: App | undefined
    let disposed = false
    const restore = () => app?.stop()
    process.once('exit', restore)
    // Ahead of the host's own listeners: the line about a row that crashed belongs below the screen, not into it.
    process.prependListener('uncaughtException', restore)
    process.prependListener('unhandledRejection', restore)
    const running = (async () => {
      await ready.wait()
      if (disposed) return
      const first = await firstRequest(host, startup)
      ctx.llm.warm()
      ctx.get('hostReload')?.watch()
      if (plain) {
        const { startLineMode } = await import('./line-mode.ts')
        app = startLineMode({ host, startup, first, input: process.stdin, output: process.stdout })
      } else {
        const [{ startApp }, { KeepingTerminal }] = await Promise.all([import('./app.ts'), import('./view/screen.ts')])
        app = startApp({ host, startup, first, terminal: new KeepingTerminal(), env: process.env })
      }
      await app.done
      exit(0)
    })()
    running.catch((error: unknown) => {
      app?.stop()
      const usage = usageCodes.includes(errorCode(error) ?? '')
      process.stderr.write(`${usage ? 'error' : 'dsh'}: ${errorAdvice(error)}\n`)
      exit(usage ? 2 : 1)
    })
    return async () => {
      disposed = true
      for (const event of ['exit', 'uncaughtException', 'unhandledRejection']) process.removeListener(event, restore)
      const farewell = app?.farewell()
      app?.stop()
      if (farewell !== undefined) process.stdout.write(`${farewell}\n`)
    }
  }, 'terminal session')
}
