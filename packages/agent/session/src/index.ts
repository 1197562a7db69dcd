import type { Session, SessionEvent, SessionPersistence, SessionsService } from './types.ts'

export type * from './types.ts'

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
    'session/disposed'(session: Session): void
  }
}
