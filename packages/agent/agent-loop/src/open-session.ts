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
 * What a resumed session keeps asking for: its model, unless another one is named, and the effort that somebody chose,
 * as long as it still goes to that model. What an adapter had filled in is resolved anew.
 */
export function withResumedChoice(options: AgentOptions, session: Session): AgentOptions {
  const header = session.requestHeader
  if (header === undefined) return options
  const { provider, model, reasoningEffort } = header.config
  const asked = { ...options, provider: options.provider ?? provider, model: options.model ?? model }
  const sameRoute = asked.provider === provider && asked.model === model
  if (!sameRoute || options.reasoningEffort !== undefined) return asked
  if (reasoningEffort === undefined || header.adapterDefaults?.reasoningEffort === true) return asked
  return { ...asked, reasoningEffort }
}
