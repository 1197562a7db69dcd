import type { Context } from '@dsh/cordis'
import { Command, CommanderError } from 'commander'
import { parseTerminalArgs, type TerminalStartup } from './args.ts'

export const name = 'terminal-startup'
export const inject = ['cmdlineArgs', 'appExit']

declare module '@dsh/cordis' {
  interface Context {
    terminalStartup: TerminalStartup
  }
}

/** Reads what the launcher left of the command line; on `--help` or a wrong flag nothing else of the surface starts. */
export async function apply(ctx: Context): Promise<void> {
  const write = { out: (text: string) => process.stdout.write(text), err: (text: string) => process.stderr.write(text) }
  const program = new Command()
  try {
    const { launcherOptions } = ctx.cmdlineArgs
    ctx.provide('terminalStartup', parseTerminalArgs(program, ctx.cmdlineArgs.get(), write, launcherOptions))
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    ctx.appExit(error.exitCode === 0 ? 0 : 2)
  }
}
