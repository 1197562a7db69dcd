import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ContentBlock,
  createAssembler,
  errorFromFailure,
  type FinishReason,
  LlmCode,
  type LlmService,
  llmError,
  type Message,
  type TokenUsage,
} from '@dsh/llm'
import type { RequestHeader } from '@dsh/session'
import { instructionMessage } from './checkpoint.ts'

export interface Summary {
  /** Text only: what the checkpoint carries. */
  readonly summary: readonly ContentBlock[]
  /** Everything the model said. */
  readonly rawOutput: readonly ContentBlock[]
  readonly maxTokens: number
  readonly usage?: TokenUsage
}

export interface SummaryRequest {
  readonly llm: LlmService
  readonly header: RequestHeader
  readonly messages: readonly Message[]
  readonly sessionId: string
  readonly maxTokens: number
  /** Further attempts after a failed one. */
  readonly retries: number
  readonly signal: AbortSignal
}

const PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/**
 * Asks the model for a digest. The request has the system prompt, the tools and the leading messages of the
 * conversation itself, so that the provider's cache answers for nearly all of it.
 */
export async function summarise(request: SummaryRequest): Promise<Summary> {
  let thinking = true
  for (let attempt = 0; ; attempt++) {
    const { summary, finish } = await askOnce(request, thinking)
    request.signal.throwIfAborted()
    if (summary !== undefined) return summary
    if (attempt === request.retries || finish.kind === 'aborted') throw failureFrom(finish)
    if (finish.kind === 'error') {
      if (finish.failure.code === LlmCode.CONTEXT_WINDOW_EXCEEDED) throw failureFrom(finish)
      const pause = Math.min(finish.failure.providerRetryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS)
      await sleep(pause, undefined, { signal: request.signal })
    }
    // An answer that ran into the cap may have spent it on reasoning.
    thinking = finish.kind !== 'max-tokens'
  }
}

async function askOnce(
  request: SummaryRequest,
  thinking: boolean,
): Promise<{ summary: Summary | undefined; finish: FinishReason }> {
  const { llm, header, messages, sessionId, maxTokens, signal } = request
  const { provider, model, reasoningEffort } = header.config
  const facts = await llm.resolveModel(provider, model)
  const canStop = facts.reasoning?.efforts.some((effort) => effort.id === 'off') === true
  const effort = !thinking && canStop ? 'off' : reasoningEffort
  const assembler = createAssembler()
  const stream = llm.stream({
    provider,
    model,
    maxTokens,
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    messages: [...messages, instructionMessage()],
    ...(header.system === undefined ? {} : { system: header.system }),
    ...(header.tools === undefined ? {} : { tools: header.tools }),
    sessionId,
    purpose: 'compaction',
    signal,
  })
  for await (const chunk of stream) assembler.push(chunk)
  const { content, finish, usage } = assembler.result()
  const summary = content.filter((block) => block.type === 'text' && block.text.trim() !== '')
  if (finish.kind === 'error' || finish.kind === 'aborted' || finish.kind === 'max-tokens' || summary.length === 0)
    return { summary: undefined, finish }
  return {
    summary: { summary, rawOutput: content, maxTokens, ...(usage === undefined ? {} : { usage }) },
    finish,
  }
}

function failureFrom(finish: FinishReason): Error {
  if (finish.kind === 'error' || finish.kind === 'aborted') return errorFromFailure(finish.failure)
  if (finish.kind === 'max-tokens')
    return llmError(LlmCode.EMPTY_RESPONSE, 'the summary did not fit into its output tokens')
  return llmError(LlmCode.EMPTY_RESPONSE, 'the model wrote no summary')
}
