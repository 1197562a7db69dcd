import { sessionError } from './errors.ts'
import type { StoredSession } from './types.ts'

/**
 * The id of the session that "go on" means in `cwd`: the newest of `stored` (newest first, of that directory) in which
 * somebody said something. Those of subagents are nobody's to go on with. Throws SESSION_NOT_FOUND where there is none,
 * and where the newest cannot be read: to go on with an older one instead would be a surprise.
 */
export function sessionToContinue(stored: readonly StoredSession[], cwd: string): string {
  const newest = stored.find(
    ({ problem, prompt, header }) => header.origin === undefined && (problem !== undefined || prompt !== undefined),
  )
  if (newest === undefined) throw sessionError('SESSION_NOT_FOUND', `there is no session to continue in ${cwd}`)
  const { header, problem } = newest
  if (problem === undefined) return header.id
  throw sessionError(
    'SESSION_NOT_FOUND',
    `the newest session here is "${header.id}" (${problem}); choose one with --resume <id>, see dsh sessions list`,
  )
}
