import { join } from 'node:path'
import { CredentialsStore, checkSecret } from '@dsh/credentials-local'
import { UsageError } from '../argv.ts'
import { askSecret } from '../ask-secret.ts'
import { openHome } from '../home.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh login [name] [--remove]

Stores an API key in the home, readable by you alone. The key is asked for without echo, or read from stdin when that is
a pipe: it never stands on a command line. Without a name it is DEEPSEEK_API_KEY.

  --remove   forget the stored key instead
`

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { remove: { type: 'boolean' } }, 1)
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const reference = positionals[0] ?? 'DEEPSEEK_API_KEY'
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(reference)) {
    throw new UsageError('error: login takes the name of a key, spelled like a variable; the key itself is asked for')
  }
  const store = new CredentialsStore(join(openHome(), '.credentials.yaml'))
  await store.open()
  if (values['remove']) {
    const { refs } = await store.read()
    if (!refs.has(reference)) throw new Error(notStored(reference, [...refs.keys()], store.file))
    await store.put('refs', reference, undefined)
    process.stderr.write(`${reference} is forgotten\n`)
    return 0
  }
  const secret = (await askSecret(`${reference}: `)).trim()
  if (secret === '') throw new UsageError('error: no key was given')
  checkSecret(reference, secret)
  await store.put('refs', reference, secret)
  process.stderr.write(`${reference} is stored in ${store.file}\n`)
  if (process.env[reference]) {
    process.stderr.write(`note: the environment also sets ${reference}, and wins\n`)
  }
  return 0
}

function notStored(reference: string, stored: string[], file: string): string {
  const others = stored.length === 0 ? 'none' : stored.sort().join(', ')
  const outside = process.env[reference] ? `; ${reference} comes from the environment` : ''
  return `${file} has no ${reference}, so nothing was removed; stored keys: ${others}${outside}`
}
