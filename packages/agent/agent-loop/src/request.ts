import { scopeTarget } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import type { GenerateOptions, LlmCallConfig, PreparedCall } from '@dsh/llm'
import type { Fold, RequestHeader, SessionEventMap } from '@dsh/session'
import type { LoopHost } from './host.ts'

export interface Request {
  readonly prepared: PreparedCall
  readonly options: GenerateOptions
}

type RequestContext = SessionEventMap['request/context']

const lastContext: Fold<RequestContext | undefined> = {
  initial: () => undefined,
  apply: (last, event) => (event.type === 'request/context' ? event.data : last),
}

/**
 * Decides what the next request says, and logs it before anything is sent. `system` is the prompt of this step; it is
 * assembled on the step's first attempt and kept for its retries.
 */
export async function prepareRequest(
  host: LoopHost,
  signal: AbortSignal,
  system: string | undefined,
): Promise<Request & { readonly system: string }> {
  const { ctx, agent, session, llm, tools, systemPrompt, choice } = host
  const seed = seedConfig(session.requestHeader, choice.pending, choice.announced)
  const config = await ctx.waterfall(scopeTarget(agent), 'agent/request', agent, seed, async () => seed)
  const { provider, model } = config
  if (provider === undefined || model === undefined) throw noModel(agent.id)
  const prepared = await llm.prepareCall(config)
  signal.throwIfAborted()
  const prompt = system ?? systemPrompt.assemble(agent, variables(provider, model, session.cwd))

  const schemas = tools.schemas(agent)
  const header: RequestHeader = {
    config: prepared.config,
    ...(prepared.adapterDefaults === undefined ? {} : { adapterDefaults: prepared.adapterDefaults }),
    ...(prompt === '' ? {} : { system: prompt }),
    ...(schemas.length === 0 ? {} : { tools: schemas }),
  }
  logHeader(host, header)
  logContext(host, prepared)

  // The log's own frozen objects, so that the dispatch guard needs to compare pointers only.
  const logged = session.requestHeader as RequestHeader
  const options: GenerateOptions = {
    ...logged.config,
    messages: session.deriveMessages(),
    ...(logged.system === undefined ? {} : { system: logged.system }),
    ...(logged.tools === undefined ? {} : { tools: logged.tools }),
    sessionId: session.id,
    signal,
  }
  return { prepared, options, system: prompt }
}

function variables(provider: string, model: string, cwd: string | undefined) {
  return { provider, model, ...(cwd === undefined ? {} : { cwd }) }
}

/**
 * What a request asks for before anybody changes it: the last header without what the adapter filled in, then the
 * explicit choices made since. Another model does not inherit the effort of the one before.
 */
export function seedConfig(last: RequestHeader | undefined, pending: LlmCallConfig, announced: boolean): LlmCallConfig {
  if (last === undefined || !announced) return ordered(pending)
  const { reasoningEffort, maxTokens, ...kept } = last.config
  const moves = (pending.provider ?? kept.provider) !== kept.provider || (pending.model ?? kept.model) !== kept.model
  return ordered({
    ...kept,
    ...(maxTokens === undefined || last.adapterDefaults?.maxTokens === true ? {} : { maxTokens }),
    ...(reasoningEffort === undefined || last.adapterDefaults?.reasoningEffort === true || moves
      ? {}
      : { reasoningEffort }),
    ...pending,
  })
}

/** The key order of the log, without absent keys. */
function ordered({ provider, model, maxTokens, reasoningEffort, temperature, stop }: LlmCallConfig): LlmCallConfig {
  const all = { provider, model, maxTokens, reasoningEffort, temperature, stop }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function logHeader({ session, choice }: LoopHost, header: RequestHeader): void {
  const last = session.requestHeader
  if (choice.announced && last !== undefined && sameHeader(last, header)) return
  const reason = choice.announced ? 'change' : last === undefined ? 'initial' : 'resume'
  session.append('request/header', { header, reason })
  choice.announced = true
  choice.pending = {}
}

function logContext({ session }: LoopHost, { config, model }: PreparedCall): void {
  const contextWindow = model.context?.contextWindow
  const now = {
    provider: config.provider,
    model: config.model,
    ...(contextWindow === undefined ? {} : { contextWindow }),
  }
  const last = session.fold(lastContext)
  if (last?.provider === now.provider && last.model === now.model && last.contextWindow === contextWindow) return
  session.append('request/context', now)
}

function sameHeader(a: RequestHeader, b: RequestHeader): boolean {
  if (a.system !== b.system) return false
  if (JSON.stringify([a.config, a.adapterDefaults]) !== JSON.stringify([b.config, b.adapterDefaults])) return false
  return sameTools(a.tools, b.tools)
}

/** The schemas that a logged copy was found equal to; the registry hands out one list until something changes. */
const knownEqual = new WeakMap<object, object>()

function sameTools(logged: RequestHeader['tools'], offered: RequestHeader['tools']): boolean {
  if (logged === undefined || offered === undefined) return logged === offered
  if (knownEqual.get(offered) === logged) return true
  if (JSON.stringify(logged) !== JSON.stringify(offered)) return false
  knownEqual.set(offered, logged)
  return true
}

function noModel(id: string): DshError {
  return new DshError(
    'NO_MODEL',
    `agent "${id}" has no provider/model: set AgentOptions.provider and AgentOptions.model or supply both via the agent/request waterfall`,
    { name: 'AgentError' },
  )
}
