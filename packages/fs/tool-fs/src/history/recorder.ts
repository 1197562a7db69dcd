import { dirname, join } from 'node:path'
import type { Session, SessionPersistence, SessionsService } from '@dsh/session'
import type { ToolExecution } from '@dsh/tools'
import type { FileChange } from '../deps.ts'
import { type BeforeStore, directoryStore, hashOf, memoryStore } from './before-store.ts'
import type {} from './change-log.ts'

export interface History {
  storeOf(session: Session): BeforeStore
  /** Keeps what a change replaced, and logs it. Never fails the call: the change itself is done. */
  record(change: FileChange, exec: ToolExecution): Promise<void>
}

export interface HistoryServices {
  readonly persistence: () => SessionPersistence | undefined
  readonly sessions: () => SessionsService | undefined
  readonly warn: (error: unknown) => void
}

/** Before-texts lie beside the log of their session; a session without a log keeps some in memory. */
export function createHistory(services: HistoryServices): History {
  const stores = new WeakMap<Session, BeforeStore>()

  function storeOf(session: Session): BeforeStore {
    let store = stores.get(session)
    if (store === undefined) {
      store = makeStore(session, services)
      stores.set(session, store)
    }
    return store
  }

  return {
    storeOf,
    async record({ path, operation, bytes }, exec) {
      const session = exec.agent?.session
      if (session === undefined) return
      try {
        const before = bytes.before === undefined ? undefined : await storeOf(session).put(bytes.before)
        const after = bytes.after === undefined ? undefined : hashOf(bytes.after)
        session.append(
          'file/change',
          {
            callId: exec.callId,
            path,
            operation,
            ...(before === undefined ? {} : { before }),
            ...(after === undefined ? {} : { after }),
          },
          { ignorable: true },
        )
      } catch (error) {
        services.warn(error)
      }
    },
  }
}

function makeStore(session: Session, services: HistoryServices): BeforeStore {
  const persistence = services.persistence()
  if (persistence === undefined || services.sessions()?.isEphemeral(session.id)) return memoryStore()
  const beside = (log: string) => join(dirname(log), 'before')
  return directoryStore(beside(persistence.pathOf(session.header)), async () => {
    const parent = session.header.parentSession
    const log = parent === undefined ? undefined : await persistence.locate(parent).catch(() => undefined)
    return log === undefined ? [] : [beside(log)]
  })
}
