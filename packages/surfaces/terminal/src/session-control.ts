import type { Agent, AgentOptions } from '@dsh/agent'
import { type Session, type StoredSession, sessionError, sessionToContinue } from '@dsh/session'
import type { TerminalStartup } from './args.ts'
import type { TerminalHost } from './terminal-host.ts'

/** `provider/model` or `model`. */
export function splitModel(text: string | undefined): { provider?: string; model?: string } {
  if (text === undefined) return {}
  const slash = text.indexOf('/')
  return slash > 0 ? { provider: text.slice(0, slash), model: text.slice(slash + 1) } : { model: text }
}

export type OpenRequest =
  | { readonly kind: 'new' }
  | { readonly kind: 'resume'; readonly id: string; readonly fork: boolean }

/** Opens the session that a start asks for, in the mode that it asks for: a new one, a stored one, or a copy of it. */
export async function openSession(host: TerminalHost, startup: TerminalStartup, request: OpenRequest): Promise<Agent> {
  const agent = await makeAgent(host, startup, request)
  if (startup.permissionMode !== undefined) host.setPermissionMode(agent, startup.permissionMode)
  return agent
}

async function makeAgent(host: TerminalHost, startup: TerminalStartup, request: OpenRequest): Promise<Agent> {
  const common: AgentOptions = {
    ...splitModel(startup.model),
    ...(startup.effort === undefined ? {} : { reasoningEffort: startup.effort }),
    cwd: host.cwd,
  }
  if (request.kind === 'new') {
    return host.createAgent({
      ...common,
      ...(startup.sessionId === undefined ? {} : { sessionId: startup.sessionId }),
      ...(startup.noSession ? { ephemeral: true } : {}),
    })
  }
  if (request.fork) return host.createAgent({ ...common, session: await host.fork(request.id) })
  return host.createAgent({ ...common, resumeSessionId: request.id })
}

/** What a start asks for, before anything is drawn; `choose` = the picker. Throws where there is no such session. */
export async function firstRequest(host: TerminalHost, startup: TerminalStartup): Promise<OpenRequest | 'choose'> {
  const { resume, sessionId, forkSession: fork } = startup
  if (startup.continue) return { kind: 'resume', id: sessionToContinue(await host.sessions(host.cwd), host.cwd), fork }
  if (resume === true) {
    if ((await resumable(host)).length === 0)
      throw sessionError('SESSION_NOT_FOUND', 'there is no session to resume yet')
    return 'choose'
  }
  if (resume !== undefined) {
    if (!(await host.isStored(resume))) throw sessionError('SESSION_NOT_FOUND', `session "${resume}" not found`)
    return { kind: 'resume', id: resume, fork }
  }
  if (sessionId !== undefined && (await host.isStored(sessionId)))
    throw sessionError(
      'SESSION_ALREADY_EXISTS',
      `session "${sessionId}" exists already; go on with it: --resume ${sessionId}`,
    )
  return { kind: 'new' }
}

/** The sessions to choose from, newest first: readable ones in which somebody said something. */
export async function resumable(host: TerminalHost): Promise<readonly StoredSession[]> {
  const stored = await host.sessions()
  return stored.filter(
    ({ problem, prompt, header }) => problem === undefined && prompt !== undefined && header.origin === undefined,
  )
}

/** What to print when the session is left; undefined for one that leaves no log. */
export function farewellOf(session: Session | undefined, startup: TerminalStartup): string | undefined {
  const begun = session?.events.some((event) => event.type === 'turn/start') === true
  return begun && !startup.noSession ? `To go on with this session: dsh --resume ${session.id}` : undefined
}
