import type { JsonObject } from '@dsh/core'
import { guidance as fileReferences } from '@dsh/file-reference-local'
import type { Transcript } from './transcript.ts'

/** What `llm-replay` has to know about the routes of a recording, so that headers come out as recorded. */
export interface ReplayProvider {
  readonly id: string
  readonly retryPolicy?: RecordedRetryPolicy
  readonly models: readonly ReplayModel[]
}
export interface ReplayModel {
  readonly id: string
  readonly contextWindow?: number
  readonly defaultMaxTokens?: number
  readonly reasoningEfforts?: readonly string[]
  readonly defaultReasoningEffort?: string
  readonly inputModalities?: readonly string[]
}
export interface RecordedRetryPolicy {
  readonly mode: 'normal' | 'always'
  readonly maxRetries?: number
  readonly retryableCodes?: readonly string[]
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly jitterRatio: number
}

const efforts = ['off', 'low', 'high', 'max']

/** Where a script was written by hand and shows no request yet: the product's own default model. */
const productDefault: ReplayProvider = {
  id: 'deepseek-official',
  retryPolicy: { mode: 'normal', initialDelayMs: 1, maxDelayMs: 10, jitterRatio: 0 },
  models: [
    {
      id: 'deepseek-v4-flash',
      contextWindow: 1_000_000,
      defaultMaxTokens: 256_000,
      reasoningEfforts: efforts,
      defaultReasoningEffort: 'high',
    },
  ],
}

export interface Route {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
}

/**
 * The rows that the log shows beyond those of the profile `headless`, which a replay runs: a session of the terminal
 * had the one that explains `@file` words.
 */
export function moreRowsOf(transcript: Transcript): readonly { readonly id: string; readonly name: string }[] {
  const prompts = transcript.events
    .filter(({ type }) => type === 'request/header')
    .map(({ data }) => (data['header'] as JsonObject)['system'])
  const told = prompts.some((system) => typeof system === 'string' && system.includes(fileReferences))
  return told ? [{ id: 'file-reference-local', name: '@dsh/file-reference-local' }] : []
}

/** The routes, models, defaults and retry policies that the log's own requests show. */
export function catalogueOf(transcript: Transcript): ReplayProvider[] {
  const models = new Map<string, Map<string, ReplayModel>>()
  const policies = new Map<string, RecordedRetryPolicy>()
  const put = (provider: string, id: string, facts: Partial<ReplayModel>) => {
    const known = models.get(provider) ?? new Map<string, ReplayModel>()
    models.set(provider, known)
    known.set(id, { ...known.get(id), ...facts, id })
  }
  for (const { type, data } of transcript.events) {
    if (type === 'request/header') {
      const header = data['header'] as JsonObject
      const config = header['config'] as JsonObject
      put(config['provider'] as string, config['model'] as string, defaultsOf(config, header['adapterDefaults']))
    } else if (type === 'request/context' && typeof data['contextWindow'] === 'number') {
      put(data['provider'] as string, data['model'] as string, { contextWindow: data['contextWindow'] })
    } else if (type === 'llm/retry') {
      const policy = policyOf(data['policyKey'])
      if (policy !== undefined) policies.set(data['provider'] as string, policy)
    }
  }
  if (models.size === 0) return [productDefault]
  return [...models].map(([id, known]) => {
    const retryPolicy = policies.get(id)
    return { id, ...(retryPolicy === undefined ? {} : { retryPolicy }), models: [...known.values()] }
  })
}

function defaultsOf(config: JsonObject, marked: unknown): Partial<ReplayModel> {
  const marks = (marked ?? {}) as JsonObject
  const effort = typeof config['reasoningEffort'] === 'string' ? config['reasoningEffort'] : undefined
  return {
    ...(marks['maxTokens'] === true ? { defaultMaxTokens: config['maxTokens'] as number } : {}),
    ...(effort === undefined ? {} : { reasoningEfforts: efforts.includes(effort) ? efforts : [...efforts, effort] }),
    ...(marks['reasoningEffort'] === true && effort !== undefined ? { defaultReasoningEffort: effort } : {}),
  }
}

/** `["normal",5,["SERVER"],500,10000,0.1]` or `["always",500,10000,0.1]`. */
function policyOf(key: unknown): RecordedRetryPolicy | undefined {
  let parts: unknown
  try {
    parts = JSON.parse(String(key))
  } catch {
    return undefined
  }
  if (!Array.isArray(parts)) return undefined
  if (parts[0] === 'normal') {
    const [, maxRetries, retryableCodes, initialDelayMs, maxDelayMs, jitterRatio] = parts
    return { mode: 'normal', maxRetries, retryableCodes, initialDelayMs, maxDelayMs, jitterRatio }
  }
  const [, initialDelayMs, maxDelayMs, jitterRatio] = parts
  return parts[0] === 'always' ? { mode: 'always', initialDelayMs, maxDelayMs, jitterRatio } : undefined
}

/** The model that the recorded session asked first; the effort only if a person chose it. */
export function routeOf(transcript: Transcript): Route {
  const first = transcript.events.find((event) => event.type === 'request/header')
  if (first === undefined) return { provider: productDefault.id, model: productDefault.models[0]?.id as string }
  const header = first.data['header'] as JsonObject
  const config = header['config'] as JsonObject
  const marks = (header['adapterDefaults'] ?? {}) as JsonObject
  const route = { provider: config['provider'] as string, model: config['model'] as string }
  if (typeof config['reasoningEffort'] !== 'string' || marks['reasoningEffort'] === true) return route
  return { ...route, reasoningEffort: config['reasoningEffort'] }
}

/** The permission preset that the session was pinned to. */
export function permissionModeOf(transcript: Transcript): string | undefined {
  const pinned = transcript.events.find((event) => event.type === 'permission/preset' || event.type === 'sandbox/mode')
  return (pinned?.data['preset'] ?? pinned?.data['mode']) as string | undefined
}
