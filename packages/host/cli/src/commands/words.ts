import { type ParseArgsConfig, parseArgs } from 'node:util'
import { errorText } from '@dsh/core'
import { UsageError } from '../argv.ts'

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
    throw new UsageError(`error: ${errorText(error).split('\n')[0]}`)
  }
  const extra = parsed.positionals[maxPositionals]
  if (extra !== undefined) throw new UsageError(`error: unexpected word "${extra}"`)
  return parsed
}
