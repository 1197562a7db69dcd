import { LlmCode, llmError } from '@dsh/llm'
import type { Fold, Session } from '@dsh/session'
import type { TerminalStartup } from './args.ts'
import type { TerminalHost } from './terminal-host.ts'

declare module '@dsh/session' {
  interface SessionEventMap {
    /** Ours, ignorable: what a person chose for the next request. The next `request/header` says what came of it. */
    'request/choice': ModelChoice
  }
}

/** What somebody chose; what is absent stays as it is. */
export interface ModelChoice {
  readonly provider?: string
  readonly model?: string
  readonly reasoningEffort?: string
}

/** The choices that no request has been made with yet. */
export const pendingChoice: Fold<ModelChoice | undefined> = {
  initial: () => undefined,
  apply: (choice, event) =>
    event.type === 'request/header'
      ? undefined
      : event.type === 'request/choice'
        ? { ...choice, ...event.data }
        : choice,
}

/** Keeps a choice for whoever goes on with this session. Where nothing was said yet the first request will keep it. */
export function recordChoice(session: Session, choice: ModelChoice): void {
  if (session.events.some((event) => event.type === 'turn/start'))
    session.append('request/choice', choice, { ignorable: true })
}

/**
 * What was typed as a model: `provider/` counts as a provider only where there is one of that name, and `:effort` only
 * where the model knows that effort; ids of other vendors contain both characters.
 */
export async function readModel(
  host: TerminalHost,
  typed: string,
  current: string | undefined,
): Promise<ModelChoice & { readonly model: string }> {
  const slash = typed.indexOf('/')
  const routed = slash > 0 && host.providers().includes(typed.slice(0, slash))
  const provider = routed ? typed.slice(0, slash) : current
  const route = provider === undefined ? {} : { provider }
  const model = routed ? typed.slice(slash + 1) : typed
  const colon = model.lastIndexOf(':')
  if (colon > 0) {
    const bare = model.slice(0, colon)
    const effort = model.slice(colon + 1)
    if ((await host.efforts({ ...route, model: bare }))?.includes(effort))
      return { ...route, model: bare, reasoningEffort: effort }
  }
  return { ...route, model }
}

/** What the command line asks for in a session that would go to `current`. */
export async function askedChoice(
  host: TerminalHost,
  { model, effort }: Pick<TerminalStartup, 'model' | 'effort'>,
  current: ModelChoice,
): Promise<ModelChoice> {
  const named = model === undefined ? {} : await readModel(host, model, current.provider)
  if (effort === undefined) return named
  await checkEffort(host, { ...current, ...named }, effort)
  return { ...named, reasoningEffort: effort }
}

/** Throws where the model has no such effort: a request with it would not leave. */
export async function checkEffort(host: TerminalHost, route: ModelChoice, effort: string): Promise<void> {
  const known = await host.efforts(route)
  if (known === undefined || known.includes(effort)) return
  throw llmError(
    LlmCode.UNSUPPORTED_REASONING_EFFORT,
    `model "${route.model}" does not support effort "${effort}"${known.length === 0 ? '' : ` (supported: ${known.join(', ')})`}`,
  )
}

/** A line about a model that its provider does not list; nothing where the provider lists none at all. */
export async function unlistedNote(host: TerminalHost, { provider, model }: ModelChoice): Promise<string | undefined> {
  const listed = (await host.models()).filter((known) => provider === undefined || known.provider === provider)
  if (listed.length === 0 || listed.some((known) => known.id === model)) return undefined
  return `model: ${model} (not in the list of models; it is sent to the server as it is)`
}
