import type { AgentOptions } from '@dsh/agent'
import { errorCode, errorText } from '@dsh/core'
import { type SessionPersistence, sessionToContinue } from '@dsh/session'
import { type HeadlessOptions, type SessionChoice, UsageError } from './options.ts'

/** The session of this run, in the words of the agent factory. */
export async function openChoice(
  { session, ephemeral, cwd }: Pick<HeadlessOptions, 'session' | 'ephemeral' | 'cwd'>,
  store: SessionPersistence | undefined,
): Promise<Pick<AgentOptions, 'sessionId' | 'resumeSessionId' | 'session' | 'cwd' | 'ephemeral'>> {
  if (session.kind === 'new') {
    if (session.id !== undefined && (await store?.locate(session.id)) !== undefined) throw exists(session.id)
    return { cwd, ...(ephemeral ? { ephemeral } : {}), ...(session.id === undefined ? {} : { sessionId: session.id }) }
  }
  if (store === undefined)
    throw new UsageError('error: this composition keeps no sessions (no session-persistence row)')
  const id = await storedId(session, cwd, store)
  if (!session.fork) return { resumeSessionId: id }
  if (session.forkId !== undefined && (await store.locate(session.forkId)) !== undefined) throw exists(session.forkId)
  return { session: await store.fork(id, session.forkId === undefined ? {} : { id: session.forkId }) }
}

function exists(id: string): UsageError {
  return new UsageError(`error: session "${id}" exists already; go on with it: --resume ${id}`)
}

async function storedId(
  choice: Exclude<SessionChoice, { kind: 'new' }>,
  cwd: string,
  store: SessionPersistence,
): Promise<string> {
  if (choice.kind === 'resume') {
    if ((await store.locate(choice.id)) === undefined) throw new UsageError(`error: session "${choice.id}" not found`)
    return choice.id
  }
  try {
    return sessionToContinue(await store.list({ cwd }), cwd)
  } catch (error) {
    if (!isMissingSession(error)) throw error
    throw new UsageError(`error: ${errorText(error)}`)
  }
}

/** Failures of opening that are the caller's mistake rather than the program's. */
export function isMissingSession(error: unknown): boolean {
  return errorCode(error) === 'SESSION_NOT_FOUND'
}
