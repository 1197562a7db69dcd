import type { Context } from '@dsh/cordis'
import type {} from '@dsh/host'
import type { HeadlessOptions } from './options.ts'
import { exitCodes } from './outcome.ts'
import { createOutput, processStreams } from './output.ts'
import { plainTask } from './plain-task.ts'
import { failedStartDocument, usageOutcome } from './usage.ts'

declare module '@dsh/cordis' {
  interface Context {
    headlessStartup: HeadlessOptions
  }
}

/** The row that reads the command line. The runner waits for it, so help and usage errors never start a run. */
export const name = 'headless-startup'
export const inject = ['cmdlineArgs']

export async function apply(ctx: Context): Promise<void> {
  const args = ctx.cmdlineArgs.get()
  const cwd = process.cwd()
  const plain = plainTask(args, cwd)
  if (plain !== undefined) {
    ctx.provide('headlessStartup', plain)
    return
  }
  const { formatOf, parseCommandLine } = await import('./command-line.ts')
  const parsed = parseCommandLine(args, {
    cwd,
    stdinIsTerminal: process.stdin.isTTY === true,
    launcherOptions: ctx.cmdlineArgs.launcherOptions,
  })
  if (parsed.kind === 'run') {
    ctx.provide('headlessStartup', parsed.options)
    return
  }
  const streams = processStreams()
  if (parsed.kind === 'help') streams.out(parsed.text)
  else {
    const { outcome, document } = usageOutcome(parsed.message)
    const format = formatOf(args)
    if (format === 'text') streams.err(`${parsed.message}\n`)
    else createOutput(format, streams).finished(outcome, document, false)
  }
  await streams.flushed()
  ctx.get('appExit')?.(parsed.kind === 'help' ? 0 : exitCodes.usage)
}

/** What stdout carries when the composition did not start: the result document, where `args` ask for one. */
export async function failedStart(
  args: readonly string[],
  error: { readonly code: string; readonly message: string },
): Promise<string> {
  const { formatOf } = await import('./command-line.ts')
  if (formatOf(args) === 'text') return ''
  return `${JSON.stringify(failedStartDocument(error, performance.now()))}\n`
}
