import type { GenerateOptions, ToolSchema } from '@dsh/llm'
import { LlmCode, llmError } from '@dsh/llm'
import type { Config } from './config.ts'
import { type WireOptions, wireMessages } from './message-wire.ts'
import { PromptBytes } from './prompt-bytes.ts'

/** The request: a prompt that is the same bytes as last time plus what is new, and knobs behind it. */
export interface RequestBody {
  /** Length of the part that the model reads, in UTF-16 units. */
  readonly promptLength: number
  finish(maxTokens: number | undefined): readonly Uint8Array[]
}

/** Conversations whose bytes are kept for their next request. */
const MAX_KEPT = 8

/** Messages are frozen and shared with the log, so a conversation that goes on is encoded only where it is new. */
export function createBodyBuilder(config: Config) {
  const kept = new Map<string, PromptBytes>()
  const toolTexts = new WeakMap<readonly ToolSchema[], string>()

  const toolsText = (tools: readonly ToolSchema[]): string => {
    let text = toolTexts.get(tools)
    if (text === undefined) {
      const wire = tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      }))
      text = JSON.stringify(wire)
      toolTexts.set(tools, text)
    }
    return text
  }

  const keep = (key: string, prompt: PromptBytes): void => {
    kept.delete(key)
    kept.set(key, prompt)
    const oldest = kept.keys().next().value
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  const promptOf = async (options: GenerateOptions, wire: WireOptions): Promise<PromptBytes> => {
    const { system, messages, sessionId, purpose } = options
    const key = purpose === undefined && sessionId !== undefined ? `${sessionId} ${options.model}` : undefined
    const before = key === undefined ? undefined : kept.get(key)
    const held = before?.heldOf(system, messages)
    const prompt = before === undefined || held === undefined ? new PromptBytes(system) : before
    for (let i = held ?? 0; i < messages.length; i++) {
      const message = messages[i] as (typeof messages)[number]
      prompt.append(message, await wireMessages(message, wire))
    }
    if (key !== undefined) keep(key, prompt)
    return prompt
  }

  return async (options: GenerateOptions, wire: WireOptions): Promise<RequestBody> => {
    const prompt = await promptOf(options, wire)
    const view = prompt.view()
    const tools = options.tools === undefined || options.tools.length === 0 ? undefined : toolsText(options.tools)
    const head = Buffer.from(`{"model":${JSON.stringify(options.model)},"messages":[`)
    const knobs = [
      '],"stream":true',
      config.streamUsage ? ',"stream_options":{"include_usage":true}' : '',
      ...reasoningKnobs(options, config).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`),
      tools === undefined ? '' : `,"tools":${tools}`,
      options.temperature === undefined ? '' : `,"temperature":${options.temperature}`,
    ].join('')
    const stop =
      options.stop === undefined || options.stop.length === 0 ? '' : `,"stop":${JSON.stringify(options.stop)}`
    return {
      promptLength: prompt.length + (tools?.length ?? 0),
      finish: (maxTokens) => {
        const cap = maxTokens === undefined ? '' : `,"${config.maxTokensField}":${maxTokens}`
        return [head, view, Buffer.from(`${knobs}${cap}${stop}}`)]
      },
    }
  }
}

function reasoningKnobs(options: GenerateOptions, config: Config): [string, unknown][] {
  const effort = options.reasoningEffort
  if (config.dialect === 'openai') {
    if (options.purpose === 'session-title' || effort === undefined || effort === 'off') return []
    return [['reasoning_effort', effort]]
  }
  if (options.purpose === 'session-title') return [['thinking', { type: 'disabled' }]]
  if (effort === undefined) return config.thinking === undefined ? [] : [['thinking', { type: config.thinking }]]
  if (effort === 'off') return [['thinking', { type: 'disabled' }]]
  if (config.thinking === 'disabled')
    throw llmError(
      LlmCode.UNSUPPORTED_REASONING_EFFORT,
      `${config.displayName} deployment does not support reasoning effort "${effort}"`,
    )
  if (effort !== 'low' && effort !== 'high' && effort !== 'max')
    throw llmError(
      LlmCode.UNSUPPORTED_REASONING_EFFORT,
      `${config.displayName} does not support reasoning effort "${effort}"`,
    )
  return [
    ['thinking', { type: 'enabled' }],
    ['reasoning_effort', effort],
  ]
}
