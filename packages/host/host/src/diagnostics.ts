import { errorText } from '@dsh/core'

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

interface LogMessage {
  readonly name: string
  readonly level: number
  readonly args: readonly unknown[]
}

export interface Diagnostics {
  /** For `ctx.logger.exporter`. */
  readonly exporter: { readonly levels: { default: number }; export(message: LogMessage): void }
  /** Prints what was held back, and everything after. */
  open(): void
  /** Drops what was held back: the boot report says it better. */
  discard(): void
}

/** Sends log messages to `write`, one line each. Until `open` they wait, because a failing boot tells them in its own words. */
export function createDiagnostics(level: LogLevel, write: (line: string) => void): Diagnostics {
  let held: LogMessage[] | undefined = []
  const print = (message: LogMessage) => write(`dsh: ${message.name}: ${messageText(message.args)}`)
  return {
    exporter: {
      levels: { default: LOG_LEVELS.indexOf(level) - 1 },
      export(message) {
        if (held === undefined) print(message)
        else held.push(message)
      },
    },
    open() {
      for (const message of held ?? []) print(message)
      held = undefined
    },
    discard() {
      held = []
    },
  }
}

function messageText(args: readonly unknown[]): string {
  return args
    .map((arg) => (process.env['DSH_DEBUG'] && arg instanceof Error ? (arg.stack ?? arg.message) : plain(arg)))
    .join(' ')
}

function plain(arg: unknown): string {
  if (typeof arg === 'string') return arg
  return arg instanceof Error ? errorText(arg) : JSON.stringify(arg)
}
