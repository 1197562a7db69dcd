import { suggestion } from '@dsh/compose/core'
import { UsageError } from '../argv.ts'
import { usage } from './sessions/usage.ts'

type Verb = (args: readonly string[]) => Promise<number>

const verbs: Readonly<Record<string, () => Promise<Verb>>> = {
  list: async () => (await import('./sessions/list.ts')).list,
  show: async () => (await import('./sessions/show.ts')).show,
  last: async () => (await import('./sessions/show.ts')).last,
  export: async () => (await import('./sessions/export.ts')).exportSession,
  fork: async () => (await import('./sessions/manage.ts')).fork,
  rename: async () => (await import('./sessions/manage.ts')).rename,
  delete: async () => (await import('./sessions/manage.ts')).remove,
  prune: async () => (await import('./sessions/prune.ts')).prune,
  verify: async () => (await import('./sessions/check.ts')).verify,
  repair: async () => (await import('./sessions/check.ts')).repair,
}

/** `dsh sessions <verb>` */
export async function run(args: readonly string[]): Promise<number> {
  const [word, ...rest] = args
  if (word === undefined || word === '-h' || word === '--help' || rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(usage)
    return word === undefined ? 2 : 0
  }
  const load = Object.hasOwn(verbs, word) ? verbs[word] : undefined
  if (load === undefined) {
    const known = Object.keys(verbs)
    throw new UsageError(`error: sessions knows ${known.join(', ')}; got "${word}"${suggestion(word, known)}`)
  }
  // `dsh sessions list | head` is an ordinary thing to do; whatever else loses the output is told where it is watched.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
  })
  return await (await load())(rest)
}
