import { join } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from '../../argv.ts'
import { openHome } from '../../home.ts'
import { wordsFault } from '../words.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** Flags and words of one verb; every verb knows `--json`. */
export function parseWords<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, json: { type: 'boolean' } } as T & { json: { type: 'boolean' } },
    })
  } catch (error) {
    throw wordsFault(error)
  }
}

/** Where the default composition keeps its logs. */
export function sessionsRoot(): string {
  return join(openHome(), 'sessions')
}

export function noWords(verb: string, positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError(`error: sessions ${verb} takes no words, got "${positionals[0]}"`)
}

export function oneId(verb: string, positionals: readonly string[]): string {
  const [id, extra] = positionals
  if (id === undefined) throw new UsageError(`error: sessions ${verb} needs the id of a session`)
  if (extra !== undefined) throw new UsageError(`error: sessions ${verb} takes one id, got "${extra}" too`)
  return id
}

export function wholeNumber(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0 || text.trim() === '')
    throw new UsageError(`error: ${flag} takes a whole number, got "${text}"`)
  return value
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
