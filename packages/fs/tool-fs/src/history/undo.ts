import { assertNever, errorText } from '@dsh/core'
import type { FsService, FsTarget } from '@dsh/fs'
import type { SandboxPolicy } from '@dsh/sandbox'
import { type BeforeStore, hashOf } from './before-store.ts'
import type { TurnChanges } from './change-log.ts'
import { type NetChange, netChanges, type Side } from './net-change.ts'

export interface UndoReport {
  readonly restored: readonly string[]
  /** Those of them that the turn had created: they are gone again. */
  readonly removed: ReadonlySet<string>
  readonly kept: readonly { readonly path: string; readonly why: string }[]
}

/** Larger files were never kept. */
const readMaxBytes = 64 * 1024 * 1024

/** Takes back what file tools changed in a turn, file by file, each only if nobody has touched it since. */
export async function undoTurn(
  turn: TurnChanges,
  store: BeforeStore,
  fs: FsService,
  policy: SandboxPolicy | undefined,
  signal: AbortSignal,
): Promise<UndoReport> {
  const restored: string[] = []
  const removed = new Set<string>()
  const kept: { path: string; why: string }[] = []
  for (const change of netChanges(turn.changes)) {
    try {
      const why = await undoOne(change, store, fs, policy, signal)
      if (why !== undefined) kept.push({ path: change.path, why })
      else restored.push(change.path)
      if (change.before.kind === 'absent') removed.add(change.path)
    } catch (error) {
      kept.push({ path: change.path, why: errorText(error) })
    }
  }
  return { restored, removed, kept }
}

/** Gives the reason why it was left alone. */
async function undoOne(
  change: NetChange,
  store: BeforeStore,
  fs: FsService,
  policy: SandboxPolicy | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const target = await fs.resolve(change.path, { signal })
  const info = await fs.stat(target, signal)
  const now = info === undefined ? undefined : await contentOf(target, fs, signal)
  if (!isLeftAs(change.after, now)) return 'changed since'
  const guard = info === undefined ? undefined : { version: info.version }
  switch (change.before.kind) {
    case 'unknown':
      return 'its content before was too large to keep'
    case 'absent':
      if (guard !== undefined) await fs.deleteFile(target, guard, signal, policy)
      return undefined
    case 'content': {
      const bytes = await store.get(change.before.id)
      if (bytes === undefined) return 'its content before is no longer kept'
      const intent =
        guard === undefined ? ({ kind: 'createIfAbsent' } as const) : ({ kind: 'replaceIfVersion', ...guard } as const)
      await fs.writeText(target, bytes, intent, signal, policy)
      return undefined
    }
    default:
      return assertNever(change.before)
  }
}

async function contentOf(target: FsTarget, fs: FsService, signal: AbortSignal): Promise<Uint8Array | undefined> {
  return await fs.readBytes(target, signal, readMaxBytes)
}

function isLeftAs(after: Side, now: Uint8Array | undefined): boolean {
  if (after.kind === 'absent') return now === undefined
  return after.kind === 'content' && now !== undefined && hashOf(now) === after.id
}

export function undoText(turn: TurnChanges, report: UndoReport): string {
  const lines = [
    ...report.restored.map((path) => `${report.removed.has(path) ? 'removed' : 'restored'} ${path}`),
    ...report.kept.map(({ path, why }) => `left ${path}: ${why}`),
    ...(turn.shell
      ? ['Commands also ran in that turn; what they changed is not recorded and was not taken back.']
      : []),
  ]
  return lines.join('\n')
}
