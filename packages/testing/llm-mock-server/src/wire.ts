export interface MockUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly [field: string]: unknown
}

const defaultUsage: MockUsage = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  prompt_cache_hit_tokens: 60,
  prompt_cache_miss_tokens: 40,
}

export interface MockCall {
  readonly name: string
  /** An object is sent as JSON, a string as it is. */
  readonly args: unknown
  readonly id?: string
}

/** One ordinary answer of the model. */
export interface MockAnswer {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly MockCall[]
  readonly finish?: string
  readonly usage?: MockUsage
  /** Splits text and reasoning into deltas of so many characters. Default: one delta. */
  readonly chunkSize?: number
  /** A pause before each delta. */
  readonly delayMs?: number
}

export function wireChunk(delta: object, finish: string | null = null, extra: object = {}): object {
  return {
    id: 'mock',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'mock',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...extra,
  }
}

/** The wire objects of an answer, without the closing `[DONE]`. `turn` makes the ids of its calls unique. */
export function wireAnswer(answer: MockAnswer, turn: number): object[] {
  const out: object[] = []
  for (const part of pieces(answer.reasoning, answer.chunkSize)) out.push(wireChunk({ reasoning_content: part }))
  for (const part of pieces(answer.text, answer.chunkSize)) out.push(wireChunk({ content: part }))
  answer.calls?.forEach((call, index) => {
    const text = typeof call.args === 'string' ? call.args : JSON.stringify(call.args)
    const id = call.id ?? `call_${turn}_${index}`
    out.push(wireChunk({ tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] }))
    for (const part of pieces(text, answer.chunkSize))
      out.push(wireChunk({ tool_calls: [{ index, function: { arguments: part } }] }))
  })
  const finish = answer.finish ?? (answer.calls === undefined ? 'stop' : 'tool_calls')
  out.push(wireChunk({}, finish, { usage: answer.usage ?? defaultUsage }))
  return out
}

function pieces(text: string | undefined, size: number | undefined): string[] {
  if (text === undefined || text === '') return []
  if (size === undefined) return [text]
  const chars = Array.from(text)
  const out: string[] = []
  for (let i = 0; i < chars.length; i += size) out.push(chars.slice(i, i + size).join(''))
  return out
}

export function sseEvent(data: object | string, lineEnd = '\n'): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}${lineEnd}${lineEnd}`
}
