import { sessionError } from '@dsh/session'
import { toPlain, transcriptOf } from '@dsh/session/export'
import { listSessions, readLog, requiredLog } from '@dsh/session-persistence-jsonl'
import { pickId } from './pick.ts'
import { noWords, oneId, parseWords, printJson, sessionsRoot } from './words.ts'

export async function show(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { full: { type: 'boolean' } })
  const root = sessionsRoot()
  return await print(root, await pickId(root, oneId('show', positionals)), values)
}

export async function last(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { full: { type: 'boolean' }, anywhere: { type: 'boolean' } })
  noWords('last', positionals)
  const root = sessionsRoot()
  const here = values.anywhere ? {} : { cwd: process.cwd() }
  const newest = (await listSessions(root, here)).find(({ header, problem }) => !problem && header.origin === undefined)
  if (newest === undefined)
    throw sessionError(
      'SESSION_NOT_FOUND',
      values.anywhere ? 'there is no session yet' : `there is no session of ${process.cwd()}`,
      undefined,
      '"dsh sessions list" shows the ones there are',
    )
  return await print(root, newest.header.id, values)
}

async function print(
  root: string,
  id: string,
  values: { readonly full?: boolean; readonly json?: boolean },
): Promise<number> {
  const path = requiredLog(root, id)
  const { header, events, dropped } = await readLog({ root, path, id })
  const transcript = transcriptOf(header, events)
  const problem =
    dropped === undefined ? undefined : `line ${dropped.line} and what follows was not read: ${dropped.why}`
  if (values.json) printJson({ ...transcript, path, ...(problem === undefined ? {} : { problem }) })
  else process.stdout.write(toPlain(transcript, { maxResultLines: values.full ? Number.POSITIVE_INFINITY : 8 }))
  if (problem !== undefined && !values.json) process.stderr.write(`dsh: ${problem}\n`)
  return 0
}
