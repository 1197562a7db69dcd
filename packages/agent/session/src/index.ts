import type { Context } from '@dsh/cordis'
import { createSessions } from './service.ts'
import type { Session, SessionEvent, SessionPersistence, SessionsService } from './types.ts'

export { interruptedTurnClosers } from './closers.ts'
export { type HeaderFacts, headerDigest, headerOf, type RequestDigest, requestDigest } from './digest.ts'
export { type SessionErrorCode, sessionError } from './errors.ts'
export { isHeaderLine, makeHeader, readHeader } from './header.ts'
export { invariant, verifyDispatch, verifyDispatchFully } from './invariant.ts'
export { knownTypes, surfaceTypes } from './known-types.ts'
export { expand, type ParsedLog, parseLog } from './log-text.ts'
export { isPackedType, openRunStart, type PackedRow, pack, unpack } from './packing.ts'
export { isEnvelope, validateSeed } from './seed.ts'
export { structureProblems } from './structure.ts'
export { deriveFrom, messageOf, surfaceOf } from './surface.ts'
export { sessionToContinue } from './to-continue.ts'
export type * from './types.ts'
export { upgradeEvent } from './upgrade.ts'
export { guardTypes, guardVersion } from './version-guard.ts'

declare module '@dsh/cordis' {
  interface Context {
    sessions: SessionsService
    sessionPersistence: SessionPersistence
  }
  interface Events {
    /** Fact, synchronous: rows pin their first events here. */
    'session/created'(session: Session): void
    /** Fact, synchronous, after the commit. A listener may not append to the same session; defer to a microtask. */
    'session/event'(session: Session, event: SessionEvent): void
    /** Fact; `sessions.dispose` waits for what a listener returns. */
    'session/disposed'(session: Session): void | Promise<void>
  }
}

export const name = 'session'

export async function apply(ctx: Context): Promise<void> {
  ctx.provide('sessions', createSessions(ctx))
}
