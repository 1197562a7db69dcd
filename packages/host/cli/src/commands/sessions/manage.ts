import { errorText } from '@dsh/core'
import { forkLog, renameLog } from '@dsh/session-persistence-jsonl'
import { UsageError } from '../../argv.ts'
import { deleteSession } from './delete-session.ts'
import { pickId } from './pick.ts'
import { oneId, parseWords, printJson, sessionsRoot, wholeNumber } from './words.ts'

export async function fork(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { at: { type: 'string' }, id: { type: 'string' } })
  const root = sessionsRoot()
  const source = await pickId(root, oneId('fork', positionals))
  const child = await forkLog(root, source, {
    ...(values.at === undefined ? {} : { boundary: wholeNumber('--at', values.at) }),
    ...(values.id === undefined ? {} : { id: values.id }),
  })
  if (child.warning !== undefined) process.stderr.write(`dsh: ${child.warning}\n`)
  if (values.json) printJson({ id: child.id, parent: source, seed_length: child.seedLength, path: child.path })
  else process.stdout.write(`${child.id}\n`)
  return 0
}

export async function rename(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {})
  const [word, ...title] = positionals
  const text = title
    .join(' ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  if (word === undefined || text === '')
    throw new UsageError('error: sessions rename needs the id of a session and a title')
  const root = sessionsRoot()
  const id = await pickId(root, word)
  const warning = await renameLog(root, id, text)
  if (warning !== undefined) process.stderr.write(`dsh: ${warning}\n`)
  if (values.json) printJson({ id, title: text })
  return 0
}

/** Each id on its own: one that cannot be deleted does not keep the others. */
export async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {})
  if (positionals.length === 0) throw new UsageError('error: sessions delete needs the id of a session')
  const root = sessionsRoot()
  const deleted: string[] = []
  const failed: { id: string; problem: string }[] = []
  for (const word of positionals) {
    try {
      const id = await pickId(root, word)
      deleteSession(root, id)
      deleted.push(id)
    } catch (error) {
      failed.push({ id: word, problem: errorText(error) })
    }
  }
  if (values.json) printJson({ deleted, failed })
  else for (const { problem } of failed) process.stderr.write(`dsh: ${problem}\n`)
  return failed.length === 0 ? 0 : 1
}
