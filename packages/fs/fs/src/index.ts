import type { FsObservation, FsService, FsTarget, FsVersion, FsWriteIntent } from './types.ts'

export { type FsErrorCode, fsError, fsErrors, throwIfAborted } from './errors.ts'
export { type LineEnding, majorityEnding } from './line-endings.ts'
export { applyChunks } from './patch-text.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    fs: FsService
  }
  interface Events {
    /** Decision, single slot: the guard of a write. `actor` is the tool execution. Default: unconditional. */
    'fs/write-intent'(target: FsTarget, actor: object, next: () => FsWriteIntent | undefined): FsWriteIntent | undefined
    /** Decision, single slot: the guard of an edit; throws FS_NOT_OBSERVED. */
    'fs/edit-intent'(
      target: FsTarget,
      actor: object,
      next: () => { version: FsVersion } | undefined,
    ): { version: FsVersion } | undefined
    /** Fact: a successful operation saw the target so. */
    'fs/observed'(target: FsTarget, observation: FsObservation, actor: object): void
  }
}
