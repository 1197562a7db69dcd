import { deepFreeze } from '@dsh/core'
import type { GenerateOptions } from '@dsh/llm'
import { headerDigest, headerJson, headerOf, messageHash } from './digest.ts'
import { sessionError } from './errors.ts'
import { deriveFrom } from './surface.ts'
import type { RequestHeader, Session, SessionEventMap } from './types.ts'

const owner = '@dsh/session'

export function invariant(text: string) {
  return sessionError('INVARIANT', `invariant violated by "${owner}": ${text}`)
}

/**
 * The dispatch guard: the request says exactly what the log derives to. Costs a pointer comparison per old message
 * and a hash per new one. Seals the request against later changes; gives what `request/digest` logs.
 */
export function verifyDispatch(session: Session, options: GenerateOptions): SessionEventMap['request/digest'] {
  const header = dispatchHeader(session, options)
  verifyMessages(session, options)
  verifyHeader(session, options, header)
  seal(options)
  return { ...digestFields(session), headerDigest: headerDigest(header, true) }
}

/** The same question answered the long way: everything derived again from the events and compared as text. */
export function verifyDispatchFully(session: Session, options: GenerateOptions): SessionEventMap['request/digest'] {
  const header = dispatchHeader(session, options)
  if (JSON.stringify(options.messages) !== JSON.stringify(deriveFrom(session.events))) throw messagesDiverge(session)
  const logged = session.events.findLast((event) => event.type === 'request/header')
  if (logged?.type !== 'request/header' || headerJson(headerOf(options)) !== headerJson(logged.data.header))
    throw headerDiverges(session)
  seal(options)
  return { ...digestFields(session), headerDigest: headerDigest(header, true) }
}

function dispatchHeader(session: Session, options: GenerateOptions): RequestHeader {
  if (options.sessionId !== session.id)
    throw invariant(`llm request names session "${options.sessionId}", but session "${session.id}" sent it`)
  const header = session.requestHeader
  if (header === undefined) throw invariant(`llm request for session "${session.id}" precedes its request/header`)
  return header
}

function verifyMessages(session: Session, { messages }: GenerateOptions): void {
  const derived = session.deriveMessages()
  if (messages === derived) return
  if (messages.length !== derived.length) throw messagesDiverge(session)
  for (let i = 0; i < derived.length; i++) {
    const ours = derived[i]
    const theirs = messages[i]
    if (ours === theirs) continue
    if (ours === undefined || theirs === undefined || !messageHash(ours, true).equals(messageHash(theirs)))
      throw messagesDiverge(session)
  }
}

function verifyHeader(session: Session, options: GenerateOptions, header: RequestHeader): void {
  const sent = headerOf(options)
  if (sameParts(options, header)) return
  if (headerJson(sent) !== headerJson(header)) throw headerDiverges(session)
}

/** Texts and tools that are the log's own objects need no second look. */
function sameParts(options: GenerateOptions, { config, system, tools }: RequestHeader): boolean {
  return (
    options.provider === config.provider &&
    options.model === config.model &&
    options.maxTokens === config.maxTokens &&
    options.reasoningEffort === config.reasoningEffort &&
    options.temperature === config.temperature &&
    options.stop === config.stop &&
    options.system === system &&
    options.tools === tools
  )
}

/** Log objects are frozen already, so this touches only what a row put in their place. */
function seal(options: GenerateOptions): void {
  deepFreeze(options.messages)
  if (options.tools !== undefined) deepFreeze(options.tools)
  if (options.stop !== undefined) Object.freeze(options.stop)
  Object.freeze(options)
}

function digestFields(session: Session) {
  const { count, generation, digest } = session.surfaceDigest()
  return { count, generation, digest }
}

function messagesDiverge(session: Session) {
  return invariant(
    `llm request for session "${session.id}" diverges from the dispatch-time durable derivation (log-reconstruction desync)`,
  )
}

function headerDiverges(session: Session) {
  return invariant(`llm request for session "${session.id}" diverges from the folded request header`)
}
