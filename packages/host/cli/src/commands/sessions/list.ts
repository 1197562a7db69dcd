import { dirname } from 'node:path'
import type { StoredSession } from '@dsh/session'
import { printable } from '@dsh/session/export'
import { listSessions, lockHolder } from '@dsh/session-persistence-jsonl'
import { noWords, parseWords, printJson, sessionsRoot, wholeNumber } from './words.ts'

export async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { here: { type: 'boolean' }, limit: { type: 'string' } })
  noWords('list', positionals)
  const all = await listSessions(sessionsRoot(), values.here ? { cwd: process.cwd() } : {})
  const shown = values.limit === undefined ? all : all.slice(0, wholeNumber('--limit', values.limit))
  if (values.json) printJson(shown.map(sessionJson))
  else if (shown.length > 0) process.stdout.write(`${table(shown)}\n`)
  else process.stderr.write('no sessions\n')
  return 0
}

export function sessionJson({ header, path, updatedAt, bytes, title, prompt, problem }: StoredSession) {
  const holder = lockHolder(dirname(path))
  return {
    id: header.id,
    title: title ?? null,
    prompt: prompt ?? null,
    cwd: header.cwd ?? null,
    created_at: new Date(header.createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    bytes,
    path,
    ...(header.parentSession === undefined ? {} : { parent: header.parentSession }),
    ...(header.origin === undefined ? {} : { origin: header.origin }),
    ...(holder === undefined ? {} : { in_use_by: { pid: holder.pid, host: holder.host } }),
    ...(problem === undefined ? {} : { problem }),
  }
}

function table(sessions: readonly StoredSession[]): string {
  const rows = sessions.map(({ header, updatedAt, title, prompt, problem }) => [
    header.id,
    localTime(updatedAt),
    problem ?? title ?? prompt ?? '',
    header.cwd ?? '',
  ])
  const clean = rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, ' ')))
  const widths = [0, 1, 2].map((at) => Math.min(44, Math.max(...clean.map((row) => [...(row[at] as string)].length))))
  return clean
    .map((row) =>
      row
        .map((cell, at) => pad(cell, widths[at]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function pad(cell: string, width: number | undefined): string {
  return width === undefined ? cell : cell + ' '.repeat(Math.max(0, width - [...cell].length))
}

/** Sortable, in the reader's time zone. */
function localTime(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16).replace('T', ' ')
}
