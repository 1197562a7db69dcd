import type { Agent, AgentOptions } from '@dsh/agent'
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

/** The newest readable session of this directory, one in which something was said if there is any. */
export async function latestSession(host: TerminalHost): Promise<string | undefined> {
  const stored = (await host.sessions()).filter(
    (session) => session.header.cwd === host.cwd && session.problem === undefined,
  )
  const newestFirst = stored.sort((a, b) => b.updatedAt - a.updatedAt)
  return (newestFirst.find(({ prompt }) => prompt !== undefined) ?? newestFirst[0])?.header.id
}
