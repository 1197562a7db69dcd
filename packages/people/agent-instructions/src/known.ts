import { createHash } from 'node:crypto'
import type { Fold, Session } from '@dsh/session'
import type { Source } from './sources.ts'

export interface Change {
  readonly action: 'set' | 'replace' | 'remove'
  readonly scope: string
  readonly path: string
  readonly digest?: string
}

export interface InstructionSource {
  readonly kind: 'agent-instructions'
  readonly form: 'instructions'
  readonly baseline?: true
  readonly baselineIdentity?: string
  readonly changes: readonly Change[]
  readonly [field: string]: unknown
}

/** What the model was told since the last baseline. */
interface Told {
  /** Seq of the baseline message; the rest builds on it. */
  readonly baselineSeq: number
  /** By absolute path. */
  readonly files: ReadonlyMap<string, Change>
}

const toldFold: Fold<Told | undefined> = {
  initial: () => undefined,
  apply: (told, event) => {
    if (event.type !== 'user/message' || event.data.source.kind !== 'agent-instructions') return told
    const source = event.data.source as unknown as InstructionSource
    const fresh = source.baseline === true || told === undefined
    const files = new Map(fresh ? [] : told.files)
    for (const change of source.changes)
      if (change.action === 'remove') files.delete(change.path)
      else files.set(change.path, change)
    return { baselineSeq: fresh ? event.seq : told.baselineSeq, files }
  },
}

/** The files the model still has in front of it; undefined when it has to be told everything. */
export function toldFiles(session: Session): ReadonlyMap<string, Change> | undefined {
  const told = session.fold(toldFold)
  return told !== undefined && session.surface.includes(told.baselineSeq) ? told.files : undefined
}

/** What changed on disk against what the model was told. */
export function changesSince(told: ReadonlyMap<string, Change>, sources: readonly Source[]): Change[] {
  const now = new Map(sources.map((source) => [source.file, source]))
  const changes: Change[] = sources.flatMap(({ file, scope, digest }) => {
    const before = told.get(file)
    if (before?.digest === digest) return []
    return [{ action: before === undefined ? 'set' : 'replace', scope, path: file, digest }]
  })
  for (const [file, { scope }] of told) if (!now.has(file)) changes.push({ action: 'remove', scope, path: file })
  return changes
}

/** Names one set of instructions, whatever order they were found in. */
export function identityOf(sources: readonly Source[]): string {
  const parts = sources.map(({ file, digest }) => `${file}\0${digest}`).sort()
  return createHash('sha1').update(parts.join('\n')).digest('hex')
}
