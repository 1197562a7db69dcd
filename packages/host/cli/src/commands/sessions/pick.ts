import { sessionError } from '@dsh/session'
import { listSessions, locateLog } from '@dsh/session-persistence-jsonl'

/** The id that the words mean: exact, or the start of exactly one. */
export async function pickId(root: string, word: string): Promise<string> {
  if (word === '') throw notFound(word)
  if (locateLog(root, word) !== undefined) return word
  const ids = (await listSessions(root)).map(({ header }) => header.id)
  const fitting = ids.filter((id) => id.startsWith(word) || id.startsWith(`session-${word}`))
  if (fitting.length > 1)
    throw sessionError(
      'SESSION_NOT_FOUND',
      `"${word}" fits ${fitting.length} sessions: ${fitting.slice(0, 5).join(', ')}${fitting.length > 5 ? ', …' : ''}`,
    )
  if (fitting[0] === undefined) throw notFound(word)
  return fitting[0]
}

function notFound(word: string) {
  return sessionError(
    'SESSION_NOT_FOUND',
    `session "${word}" not found`,
    undefined,
    '"dsh sessions list" shows the ones there are',
  )
}
