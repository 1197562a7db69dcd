import type { ResolvedModel } from '@dsh/llm'
import type { Config, ModelConfig } from './config.ts'

const OFFICIAL_WINDOW = 1_000_000
const OFFICIAL_OUTPUT = 256_000
const OFFICIAL_EFFORTS = ['off', 'low', 'high', 'max']
const OFFICIAL_DEFAULT_EFFORT = 'high'

const officialModels: readonly ModelConfig[] = [
  { id: 'deepseek-v4-flash', name: 'DeepSeek V4 Flash' },
  { id: 'deepseek-v4-pro', name: 'DeepSeek V4 Pro' },
]

export interface Catalogue {
  list(): readonly ResolvedModel[]
  /** An unlisted id is passed through with the route's defaults, as text only. */
  resolve(id: string, provider: string): ResolvedModel
}

export function createCatalogue(config: Config): Catalogue {
  const official = config.dialect === 'deepseek'
  const listed = config.models ?? (official ? officialModels : [])
  const describe = (model: ModelConfig, provider: string): ResolvedModel => {
    const window = model.contextWindow ?? config.contextWindow ?? (official ? OFFICIAL_WINDOW : undefined)
    const output = model.maxTokens ?? config.maxTokens ?? (official ? OFFICIAL_OUTPUT : undefined)
    const reasoning = reasoningOf(model, config)
    return {
      provider,
      id: model.id,
      name: model.name ?? model.id,
      ...(model.description === undefined ? {} : { description: model.description }),
      ...(model.inputModalities === undefined ? {} : { inputModalities: model.inputModalities }),
      ...(window === undefined ? {} : { context: { contextWindow: window } }),
      ...(output === undefined ? {} : { defaultMaxTokens: window === undefined ? output : Math.min(output, window) }),
      ...(reasoning === undefined ? {} : { reasoning }),
    }
  }
  return {
    list: () => listed.map((model) => describe(model, config.route)),
    resolve: (id, provider) => describe(listed.find((model) => model.id === id) ?? { id }, provider),
  }
}

function reasoningOf(model: ModelConfig, config: Config): ResolvedModel['reasoning'] {
  const official = config.dialect === 'deepseek'
  const efforts = model.reasoningEfforts ?? (official ? OFFICIAL_EFFORTS : [])
  if (efforts.length === 0) return undefined
  const wanted =
    model.defaultReasoningEffort ?? config.reasoningEffort ?? (official ? officialDefault(config) : undefined)
  const defaultEffort = wanted !== undefined && efforts.includes(wanted) ? wanted : undefined
  return {
    efforts: efforts.map((id) => ({ id, name: id.charAt(0).toUpperCase() + id.slice(1) })),
    ...(defaultEffort === undefined ? {} : { defaultEffort }),
  }
}

/** With thinking switched off or on by config, the effort is the server's own business. */
function officialDefault(config: Config): string | undefined {
  return config.thinking === undefined ? OFFICIAL_DEFAULT_EFFORT : undefined
}
