import { type ParseArgsConfig, parseArgs } from 'node:util'
import { errorCode, errorText } from '@dsh/core'
import { OptionError, UsageError } from '../argv.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** Parses a subcommand's words; `--help` is always there. A fault is a usage error in one line. */
export function parseWords(args: readonly string[], options: Options, maxPositionals = Number.POSITIVE_INFINITY) {
  let parsed: { values: Record<string, string | boolean | (string | boolean)[] | undefined>; positionals: string[] }
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw wordsFault(error)
  }
  const extra = parsed.positionals[maxPositionals]
  if (extra !== undefined) throw new OptionError(`error: unexpected word "${extra}"`)
  return parsed
}

/** What Node says of a command's options, in a line of ours. */
export function wordsFault(error: unknown): UsageError {
  const [line = ''] = errorText(error).split(/\n|\. To specify/)
  const message = `error: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
  return errorCode(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? new OptionError(message) : new UsageError(message)
}
