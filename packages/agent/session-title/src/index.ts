import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type { Fold, Session, SessionEvent, SessionEventOf } from '@dsh/session'
import * as z from 'zod'
import { cleanTitle, fallbackTitle } from './title-text.ts'

export interface SessionTitle {
  get(session: Session): string | undefined
  /** A person's choice; stays whatever happens later. Throws when nothing printable is left of it. */
  rename(session: Session, title: string): void
}

declare module '@dsh/cordis' {
  interface Context {
    sessionTitle: SessionTitle
  }
}

export const name = 'session-title'
export const inject = ['sessions']

export const Config = lazySchema(() =>
  z
    .strictObject({
      fallbackMaxWords: z.int().positive().default(5),
      fallbackMaxBytes: z.int().positive().default(40),
      maxTitleBytes: z.int().positive().default(80),
    })
    .prefault({}),
)

const titles: Fold<string | undefined> = {
  initial: () => undefined,
  apply: (title, event) => (event.type === 'session/title' ? event.data.title : title),
}

const firstPrompts: Fold<SessionEventOf<'user/message'> | undefined> = {
  initial: () => undefined,
  apply: (first, event) => first ?? (isPrompt(event) ? event : undefined),
}

/** Names a session after its first prompt. Asks no model. */
export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const limits = { maxWords: config.fallbackMaxWords, maxBytes: config.fallbackMaxBytes }

  // An observer may not append; the first gap after the prompts of a step is soon enough.
  ctx.on('session/event', (session, event) => {
    if (isPrompt(event) && session.fold(titles) === undefined) queueMicrotask(() => nameSession(session))
  })

  function nameSession(session: Session): void {
    const first = session.fold(firstPrompts)
    if (first === undefined || session.fold(titles) !== undefined || ctx.sessions.get(session.id) !== session) return
    const title = fallbackTitle(first.data.content, limits)
    if (title === undefined) return
    session.append('session/title', { title, messageSeqs: [first.seq], source: { kind: 'fallback' } })
  }

  ctx.provide('sessionTitle', {
    get: (session) => session.fold(titles),
    rename(session, text) {
      const title = cleanTitle(text, config.maxTitleBytes)
      if (title === undefined) throw new TypeError('a session title needs a printable character')
      session.append('session/title', { title, messageSeqs: [], source: { kind: 'user' } })
    },
  })
}

function isPrompt(event: SessionEvent): event is SessionEventOf<'user/message'> {
  return event.type === 'user/message' && event.data.source.kind === 'user'
}
