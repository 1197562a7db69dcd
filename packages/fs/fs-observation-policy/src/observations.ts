import { type FsObservation, type FsTarget, type FsVersion, type FsWriteIntent, fsError, fsErrors } from '@dsh/fs'

/** What each session has seen of each file. Freshness, not completeness: one line read is the version read. */
export class Observations {
  readonly bySession = new WeakMap<object, Map<string, FsObservation>>()

  record(owner: object | undefined, target: FsTarget, observation: FsObservation): void {
    if (owner === undefined) return
    let files = this.bySession.get(owner)
    if (files === undefined) {
      files = new Map()
      this.bySession.set(owner, files)
    }
    files.set(target.targetKey, observation)
  }

  of(owner: object | undefined, target: FsTarget): FsObservation | undefined {
    return owner === undefined ? undefined : this.bySession.get(owner)?.get(target.targetKey)
  }

  writeIntent(owner: object | undefined, target: FsTarget): FsWriteIntent {
    const seen = this.of(owner, target)
    return seen?.kind === 'present' ? { kind: 'replaceIfVersion', version: seen.version } : { kind: 'createIfAbsent' }
  }

  editIntent(owner: object | undefined, target: FsTarget): { readonly version: FsVersion } {
    const seen = this.of(owner, target)
    if (seen === undefined) throw fsError(fsErrors.notObserved, `edit requires reading "${target.displayPath}" first`)
    if (seen.kind === 'absent') throw fsError(fsErrors.notFound, `cannot edit "${target.displayPath}": not found`)
    return { version: seen.version }
  }
}
