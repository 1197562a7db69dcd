import { type AgentOptions, agentError, agentErrors } from '@dsh/agent'
import type { Session, SessionPersistence, SessionsService } from '@dsh/session'

export interface SessionSources {
  readonly sessions: SessionsService
  readonly persistence: SessionPersistence | undefined
}

/** The session an agent works in: a live one, a stored one, or a new one. */
export async function openSession(options: AgentOptions, { sessions, persistence }: SessionSources): Promise<Session> {
  checkOptions(options)
  if (options.session !== undefined) return options.session
  if (options.resumeSessionId !== undefined) {
    if (persistence === undefined)
      throw agentError(
        agentErrors.invalidOptions,
        'cannot resume: session persistence is not configured (load a dsh-session-persistence backend)',
      )
    return persistence.resume(options.resumeSessionId)
  }
  return sessions.create({
    ...(options.sessionId === undefined ? {} : { id: options.sessionId }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.ephemeral === undefined ? {} : { ephemeral: options.ephemeral }),
  })
}

function checkOptions({ id, sessionId, resumeSessionId, maxTokens }: AgentOptions): void {
  if (sessionId !== undefined && resumeSessionId !== undefined)
    throw agentError(
      agentErrors.invalidOptions,
      `agent "${id ?? sessionId}": sessionId and resumeSessionId are mutually exclusive`,
    )
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0))
    throw agentError(agentErrors.invalidOptions, 'agent maxTokens must be a positive safe integer')
}

/**
 * What a resumed session keeps asking for: the effort that somebody chose, as long as it still goes to the same model.
 * What an adapter had filled in is resolved anew.
 */
export function withResumedEffort(options: AgentOptions, session: Session): AgentOptions {
  const header = session.requestHeader
  const effort = header?.config.reasoningEffort
  if (header === undefined || effort === undefined || options.reasoningEffort !== undefined) return options
  const sameRoute = header.config.provider === options.provider && header.config.model === options.model
  if (!sameRoute || header.adapterDefaults?.reasoningEffort === true) return options
  return { ...options, reasoningEffort: effort }
}
