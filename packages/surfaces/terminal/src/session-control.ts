import type { Agent } from '@dsh/agent'
import { type Session, type StoredSession, sessionError, sessionToContinue } from '@dsh/session'
import type { TerminalStartup } from './args.ts'
import { askedChoice, pendingChoice, recordChoice } from './model-choice.ts'
import type { TerminalHost } from './terminal-host.ts'

export type OpenRequest =
  | { readonly kind: 'new' }
  | { readonly kind: 'resume'; readonly id: string; readonly fork: boolean }

/** Opens the session that a start asks for, in the mode that it asks for: a new one, a stored one, or a copy of it. */
export async function openSession(host: TerminalHost, startup: TerminalStartup, request: OpenRequest): Promise<Agent> {
  const agent = request.kind === 'new' ? await newAgent(host, startup) : await storedAgent(host, startup, request)
  if (startup.permissionMode !== undefined) host.setPermissionMode(agent, startup.permissionMode)
  return agent
}

/** Opens a further one: an id names the first new session only, and a stored session has its own model and effort. */
export function openAnother(host: TerminalHost, startup: TerminalStartup, request: OpenRequest): Promise<Agent> {
  const kept = { ...startup, sessionId: undefined }
  return openSession(host, request.kind === 'new' ? kept : { ...kept, model: undefined, effort: undefined }, request)
}

async function newAgent(host: TerminalHost, startup: TerminalStartup): Promise<Agent> {
  const usual = host.defaultModel()
  const asked = await askedChoice(host, startup, usual)
  return host.createAgent({
    // An effort that is usual for one model is none for another.
    ...(startup.model === undefined ? { ...usual, ...asked } : asked),
    cwd: host.cwd,
    ...(startup.sessionId === undefined ? {} : { sessionId: startup.sessionId }),
    ...(startup.noSession ? { ephemeral: true } : {}),
  })
}

/** A stored session goes on with the model and the effort that it had, unless others are asked for. */
async function storedAgent(
  host: TerminalHost,
  startup: TerminalStartup,
  { id, fork }: { readonly id: string; readonly fork: boolean },
): Promise<Agent> {
  const session = fork ? await host.fork(id, startup.sessionId) : await host.resume(id)
  const asked = session.requestHeader?.config
  const pending = session.fold(pendingChoice)
  const held = asked === undefined ? { ...host.defaultModel(), ...pending } : pending
  const given = await askedChoice(host, startup, { provider: asked?.provider, model: asked?.model, ...held })
  const agent = await host.createAgent({
    ...(startup.model === undefined ? { ...held, ...given } : given),
    session,
    cwd: host.cwd,
  })
  if (startup.model !== undefined || startup.effort !== undefined) recordChoice(session, given)
  return agent
}

/** What a start asks for, before anything is drawn; `choose` = the picker. Throws where there is no such session. */
export async function firstRequest(host: TerminalHost, startup: TerminalStartup): Promise<OpenRequest | 'choose'> {
  const { resume, sessionId, forkSession: fork } = startup
  if (sessionId !== undefined && (await host.isStored(sessionId)))
    throw sessionError(
      'SESSION_ALREADY_EXISTS',
      `session "${sessionId}" exists already; go on with it: --resume ${sessionId}`,
    )
  if (startup.continue) return { kind: 'resume', id: sessionToContinue(await host.sessions(host.cwd), host.cwd), fork }
  if (resume === undefined) return { kind: 'new' }
  if (resume === true) {
    if ((await resumable(host)).length === 0)
      throw sessionError('SESSION_NOT_FOUND', 'there is no session to resume yet')
    return 'choose'
  }
  if (!(await host.isStored(resume))) throw sessionError('SESSION_NOT_FOUND', `session "${resume}" not found`)
  return { kind: 'resume', id: resume, fork }
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
