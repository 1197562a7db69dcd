import { isUtf8 } from 'node:buffer'
import type { FsService } from '@dsh/fs'
import { createTwoFilesPatch } from 'diff'
import type { BeforeStore } from './before-store.ts'
import type { FileChangeRecord } from './change-log.ts'
import { type NetChange, netChanges } from './net-change.ts'

const readMaxBytes = 10 * 1024 * 1024
const maxEdits = 5000

/** Everything that file tools changed, from how it was before the session to how it is now. */
export async function sessionDiff(
  changes: readonly FileChangeRecord[],
  store: BeforeStore,
  fs: FsService,
  cwd: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const parts: string[] = []
  for (const change of netChanges(changes)) {
    const text = await fileDiff(change, store, fs, cwd, signal)
    if (text !== undefined) parts.push(text)
  }
  return parts.join('\n')
}

async function fileDiff(
  change: NetChange,
  store: BeforeStore,
  fs: FsService,
  cwd: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = cwd !== undefined && change.path.startsWith(`${cwd}/`) ? change.path.slice(cwd.length + 1) : change.path
  const before = change.before.kind === 'content' ? await store.get(change.before.id) : undefined
  const now = await currentBytes(change.path, fs, signal)
  if (change.before.kind !== 'absent' && before === undefined) return `${name}: changed; its content before is not kept`
  if (now === 'unreadable') return `${name}: changed; it is too large or cannot be read now`
  if (before === undefined && now === undefined) return undefined
  if (before !== undefined && now !== undefined && before.equals(now)) return undefined
  const [old, current] = [textOf(before), textOf(now)]
  if (old === undefined || current === undefined) return `${name}: binary content changed`
  const patch = createTwoFilesPatch(
    before === undefined ? '/dev/null' : `a/${name}`,
    now === undefined ? '/dev/null' : `b/${name}`,
    old,
    current,
    '',
    '',
    { context: 3, maxEditLength: maxEdits },
  ) as string | undefined
  return patch?.replace(/^=+\n/, '').trimEnd() ?? `${name}: changed in too many places to show`
}

async function currentBytes(
  path: string,
  fs: FsService,
  signal: AbortSignal,
): Promise<Buffer | 'unreadable' | undefined> {
  try {
    const target = await fs.resolve(path, { signal })
    if ((await fs.stat(target, signal)) === undefined) return undefined
    return Buffer.from(await fs.readBytes(target, signal, readMaxBytes))
  } catch {
    return 'unreadable'
  }
}

/** undefined = no text. */
function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return ''
  return bytes.includes(0) || !isUtf8(bytes) ? undefined : bytes.toString('utf8')
}
