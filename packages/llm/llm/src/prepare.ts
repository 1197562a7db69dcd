import { LlmCode, llmError } from './errors.ts'
import type { AdapterDefaults, LlmCallConfig, ResolvedCallConfig, ResolvedModel } from './types.ts'

export interface FilledConfig {
  readonly config: ResolvedCallConfig
  readonly adapterDefaults?: AdapterDefaults
}

/** The config a request runs with: what was chosen, then the model's own defaults, marked as such. Key order is the log's. */
export function fillDefaults(
  asked: LlmCallConfig & { provider: string; model: string },
  model: ResolvedModel,
  /** An adapter for every route knows nothing of a model's efforts; whatever was chosen is taken as it is. */
  anyEffort = false,
): FilledConfig {
  const efforts = model.reasoning?.efforts ?? []
  const asksEffort = asked.reasoningEffort !== undefined
  const unchecked = anyEffort && model.reasoning === undefined
  if (asksEffort && !unchecked && !efforts.some((effort) => effort.id === asked.reasoningEffort))
    throw llmError(
      LlmCode.UNSUPPORTED_REASONING_EFFORT,
      `provider "${asked.provider}" model "${asked.model}" does not support reasoning effort "${asked.reasoningEffort}"`,
    )
  const maxTokens = asked.maxTokens ?? model.defaultMaxTokens
  const effort = asked.reasoningEffort ?? model.reasoning?.defaultEffort
  const defaults: AdapterDefaults = {
    ...(!asksEffort && effort !== undefined ? { reasoningEffort: true } : {}),
    ...(asked.maxTokens === undefined && maxTokens !== undefined ? { maxTokens: true } : {}),
  }
  return {
    config: {
      provider: asked.provider,
      model: asked.model,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(effort === undefined ? {} : { reasoningEffort: effort }),
      ...(asked.temperature === undefined ? {} : { temperature: asked.temperature }),
      ...(asked.stop === undefined ? {} : { stop: asked.stop }),
    },
    ...(Object.keys(defaults).length === 0 ? {} : { adapterDefaults: defaults }),
  }
}

/** Refuses model facts that later arithmetic would trip over. */
export function checkModel(model: ResolvedModel): ResolvedModel {
  const where = `model "${model.id}" of provider "${model.provider}"`
  if (typeof model.id !== 'string' || model.id === '' || typeof model.provider !== 'string')
    throw llmError(LlmCode.INVALID_MODEL_INFO, `an adapter described a model without an id or provider`)
  const window = model.context?.contextWindow
  if (window !== undefined && !isCount(window))
    throw llmError(LlmCode.INVALID_MODEL_CONTEXT, `${where} has an invalid context window: ${window}`)
  if (model.defaultMaxTokens !== undefined && !isCount(model.defaultMaxTokens))
    throw llmError(LlmCode.INVALID_MODEL_MAX_TOKENS, `${where} has invalid output tokens: ${model.defaultMaxTokens}`)
  const { reasoning } = model
  if (
    reasoning?.defaultEffort !== undefined &&
    !reasoning.efforts.some((effort) => effort.id === reasoning.defaultEffort)
  )
    throw llmError(
      LlmCode.INVALID_MODEL_REASONING,
      `${where} has a default effort "${reasoning.defaultEffort}" that it does not offer`,
    )
  return model
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0
}
