import { randomUUID } from 'node:crypto'
import type { Context } from '@dsh/cordis'
import { sessionError } from './errors.ts'
import { makeHeader } from './header.ts'
import { validateSeed } from './seed.ts'
import { LiveSession, type Publish } from './session.ts'
import type { Session, SessionsService } from './types.ts'

/** The live sessions of one host. Observers hear facts on the bus; none of them can fail an append that committed. */
export function createSessions(ctx: Context): SessionsService {
  const live = new Map<string, LiveSession>()
  const offDisk = new Set<string>()

  // `ctx` is a proxy, and this is asked for every delta of a stream.
  const { events: bus } = ctx

  const publish: Publish = (session, event) => {
    if (live.get(session.id) !== session) return
    const args: unknown[] = ['session/event', session, event]
    callAll(ctx, bus.dispatch('emit', args), args)
  }

  return {
    create(options = {}) {
      const id = options.id ?? `session-${randomUUID()}`
      if (live.has(id)) throw sessionError('SESSION_ALREADY_EXISTS', `session "${id}" already exists`)
      const header = makeHeader(id, options.createdAt ?? Date.now(), options)
      const session = new LiveSession(header, validateSeed(options.seed ?? []), publish)
      live.set(id, session)
      if (options.ephemeral === true) offDisk.add(id)
      announce(ctx, 'session/created', session)
      return session
    },
    get: (id) => live.get(id),
    list: () => [...live.values()],
    async dispose(id) {
      const session = live.get(id)
      if (session === undefined) return
      session.close()
      await Promise.all(announce(ctx, 'session/disposed', session))
      live.delete(id)
      offDisk.delete(id)
    },
    isEphemeral: (id) => offDisk.has(id),
  }
}

function announce(ctx: Context, name: 'session/created' | 'session/disposed', session: Session): Promise<unknown>[] {
  const args: unknown[] = [name, session]
  return callAll(ctx, [...ctx.events.dispatch('emit', args)], args)
}

/** Every listener hears the fact; a throw or a rejection is reported and ends there. */
function callAll(
  ctx: Context,
  listeners: readonly ((...args: unknown[]) => unknown)[],
  args: unknown[],
): Promise<unknown>[] {
  const pending: Promise<unknown>[] = []
  for (const listener of listeners) {
    try {
      const result = listener(...args)
      if (result instanceof Promise) pending.push(result.catch((error: unknown) => ctx.logger.warn(error)))
    } catch (error) {
      ctx.logger.warn(error)
    }
  }
  return pending
}
