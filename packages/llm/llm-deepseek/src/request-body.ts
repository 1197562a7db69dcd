import type { GenerateOptions, Message, ToolSchema } from '@dsh/llm'
import { LlmCode, llmError } from '@dsh/llm'
import type { Config } from './config.ts'
import { hasImage, type WireOptions, wireMessages } from './message-wire.ts'

/** The request as text: a prompt that is the same bytes as last time plus what is new, and knobs behind it. */
export interface RequestBody {
  /** Length of the part that the model reads, in UTF-16 units. */
  readonly promptLength: number
  finish(maxTokens: number | undefined): string
}

/**
 * Messages are frozen and shared with the log, so each is turned into its wire text once; a request joins the texts.
 */
export function createBodyBuilder(config: Config) {
  const fragments = new WeakMap<Message, string>()
  const toolTexts = new WeakMap<readonly ToolSchema[], string>()

  const fragmentOf = async (message: Message, options: WireOptions): Promise<string> => {
    const text = (await wireMessages(message, options)).map((wire) => JSON.stringify(wire)).join(',')
    if (!hasImage(message.content)) fragments.set(message, text)
    return text
  }

  const toolsText = (tools: readonly ToolSchema[]): string => {
    let text = toolTexts.get(tools)
    if (text === undefined) {
      text = JSON.stringify(
        tools.map(({ name, description, parameters }) => ({
          type: 'function',
          function: { name, description, parameters },
        })),
      )
      toolTexts.set(tools, text)
    }
    return text
  }

  return async (options: GenerateOptions, wire: WireOptions): Promise<RequestBody> => {
    const parts: string[] = []
    if (options.system !== undefined && options.system !== '')
      parts.push(JSON.stringify({ role: 'system', content: options.system }))
    for (const message of options.messages) {
      // Awaiting a known text would cost a tick per message of the whole history.
      const text = fragments.get(message) ?? (await fragmentOf(message, wire))
      if (text !== '') parts.push(text)
    }
    const prompt = parts.join(',')
    const tools = options.tools === undefined || options.tools.length === 0 ? undefined : toolsText(options.tools)
    const head = `{"model":${JSON.stringify(options.model)},"messages":[${prompt}],"stream":true`
    const knobs = [
      config.streamUsage ? ',"stream_options":{"include_usage":true}' : '',
      ...reasoningKnobs(options, config).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`),
      tools === undefined ? '' : `,"tools":${tools}`,
      options.temperature === undefined ? '' : `,"temperature":${options.temperature}`,
    ].join('')
    const stop =
      options.stop === undefined || options.stop.length === 0 ? '' : `,"stop":${JSON.stringify(options.stop)}`
    return {
      promptLength: prompt.length + (tools?.length ?? 0),
      finish: (maxTokens) =>
        `${head}${knobs}${maxTokens === undefined ? '' : `,"${config.maxTokensField}":${maxTokens}`}${stop}}`,
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
