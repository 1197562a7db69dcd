import { explain, unknownRowText } from '@dsh/compose'
import { UsageError } from '../argv.ts'
import { defaultProfile } from '../dump.ts'
import { openHome } from '../home.ts'
import { composeProfile } from '../layers.ts'
import { readProfile } from '../profile.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh config explain <row> [--profile <name>] [--patch <path>]...

Prints what each layer says about a row, lowest first, and what comes of it. Without --profile it explains what a bare
dsh would run here. The rows themselves: dsh --dump-config.
`

/** `dsh config explain <row>` */
export async function run(args: readonly string[]): Promise<number> {
  const options = { profile: { type: 'string' }, patch: { type: 'string', multiple: true } } as const
  const { values, positionals } = parseWords(args, options)
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const [verb, id, ...extra] = positionals
  if (verb !== 'explain') throw new UsageError('error: config knows one command: dsh config explain <row>')
  if (id === undefined) throw new UsageError('error: config explain needs the id of a row')
  if (extra.length > 0) throw new UsageError(`error: config explain takes one row, got ${positionals.length - 1}`)

  const home = openHome()
  const profile = readProfile(home, (values['profile'] as string | undefined) ?? defaultProfile())
  const composition = await composeProfile(profile, {
    home,
    cwd: process.cwd(),
    patches: (values['patch'] as string[] | undefined) ?? [],
    scope: 'all',
  })
  const text = explain(composition, id)
  if (text === undefined) {
    process.stderr.write(`dsh: ${unknownRowText(composition, id, profile.name)}\n`)
    return 1
  }
  process.stdout.write(text)
  return 0
}
