import { dirname } from 'node:path'
import { errorText } from '@dsh/core'
import { listSessions, lockHolder } from '@dsh/session-persistence-jsonl'
import { UsageError } from '../../argv.ts'
import { deleteSession } from './delete-session.ts'
import { noWords, parseWords, printJson, sessionsRoot, wholeNumber } from './words.ts'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export async function prune(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {
    'older-than': { type: 'string' },
    keep: { type: 'string' },
    'dry-run': { type: 'boolean' },
  })
  noWords('prune', positionals)
  const { 'older-than': age, keep, 'dry-run': dry = false } = values
  if (age === undefined && keep === undefined)
    throw new UsageError('error: sessions prune needs --older-than <age>, --keep <n>, or both')
  const root = sessionsRoot()
  const before = age === undefined ? Number.POSITIVE_INFINITY : Date.now() - ageMs(age)
  const kept = keep === undefined ? 0 : wholeNumber('--keep', keep)
  const chosen = (await listSessions(root))
    .slice(kept)
    .filter(({ updatedAt, path }) => updatedAt < before && lockHolder(dirname(path)) === undefined)

  const failed: { id: string; problem: string }[] = []
  const pruned: string[] = []
  for (const { header } of chosen) {
    try {
      if (!dry) deleteSession(root, header.id)
      pruned.push(header.id)
    } catch (error) {
      failed.push({ id: header.id, problem: errorText(error) })
    }
  }
  const bytes = chosen
    .filter(({ header }) => pruned.includes(header.id))
    .reduce((sum, session) => sum + session.bytes, 0)
  if (values.json) printJson({ pruned, failed, bytes, dry_run: dry })
  else {
    for (const id of pruned) process.stdout.write(`${dry ? 'would delete' : 'deleted'} ${id}\n`)
    for (const { problem } of failed) process.stderr.write(`dsh: ${problem}\n`)
  }
  return failed.length === 0 ? 0 : 1
}

function ageMs(text: string): number {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(text) ?? []
  const ms = unit === undefined ? undefined : unitMs[unit]
  if (ms === undefined) throw new UsageError(`error: --older-than takes 30m, 12h, 30d or 8w, got "${text}"`)
  return Number(count) * ms
}
