import type { AgentDefaultModel } from '@dsh/agent-default-model'
import type { LlmService } from '@dsh/llm'
import { type HeadlessOptions, UsageError } from './options.ts'

export interface ChosenModel {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
}

/**
 * What `--model` and `--effort` mean here. `provider/` counts as a provider only when a route of that name exists, and
 * `:effort` only when the model knows that effort: ids of other vendors contain both characters.
 */
export async function chooseModel(
  { model: asked, effort }: Pick<HeadlessOptions, 'model' | 'effort'>,
  base: ChosenModel | ReturnType<AgentDefaultModel['current']>,
  llm: LlmService,
): Promise<ChosenModel> {
  const { provider, model, suffix } = await readModel(asked, base, llm)
  const chosen = effort ?? suffix ?? (asked === undefined ? base.reasoningEffort : undefined)
  if (effort !== undefined) await checkEffort(provider, model, effort, llm)
  return { provider, model, ...(chosen === undefined ? {} : { reasoningEffort: chosen }) }
}

async function readModel(asked: string | undefined, base: { provider: string; model: string }, llm: LlmService) {
  if (asked === undefined) return { provider: base.provider, model: base.model, suffix: undefined }
  if (asked === '') throw new UsageError('error: --model needs a name')
  const slash = asked.indexOf('/')
  const route = asked.slice(0, Math.max(slash, 0))
  const routed = llm.providers().some(({ id }) => id === route)
  const provider = routed ? route : base.provider
  const model = routed ? asked.slice(slash + 1) : asked
  const colon = model.lastIndexOf(':')
  if (colon > 0) {
    const suffix = model.slice(colon + 1)
    const bare = model.slice(0, colon)
    if ((await efforts(provider, bare, llm))?.includes(suffix)) return { provider, model: bare, suffix }
  }
  return { provider, model, suffix: undefined }
}

async function checkEffort(provider: string, model: string, effort: string, llm: LlmService): Promise<void> {
  const known = await efforts(provider, model, llm)
  if (known === undefined || known.includes(effort)) return
  throw new UsageError(
    `error: model "${model}" does not support effort "${effort}"${known.length === 0 ? '' : ` (supported: ${known.join(', ')})`}`,
  )
}

/** undefined when the provider cannot tell here; the request itself will. */
async function efforts(provider: string, model: string, llm: LlmService): Promise<readonly string[] | undefined> {
  try {
    const { reasoning } = await llm.resolveModel(provider, model)
    return reasoning?.efforts.map(({ id }) => id) ?? []
  } catch {
    return undefined
  }
}
