import { randomUUID } from 'node:crypto'
import { scopeTarget } from '@dsh/cordis'
import {
  type AssembledMessage,
  type ContentBlock,
  createAssembler,
  errorFromFailure,
  type LlmFailure,
  type ReplayState,
  type ToolCallBlock,
} from '@dsh/llm'
import { nameFrozenWrite } from './guard.ts'
import type { LoopHost } from './host.ts'
import { LimitStop } from './limit-stop.ts'
import { prepareRequest, type Request } from './request.ts'
import { watchStream, withoutRepeats } from './runaway.ts'
import { runToolCalls, type ToolBatch } from './tool-calls.ts'
import { abortable, giveUp, untilAborted } from './until-aborted.ts'

export interface StepPlace {
  readonly turn: number
  readonly step: number
}

export interface StepOutcome {
  /** How the turn ends because of this step; undefined when tools ran and the model should see their results. */
  readonly ended: 'completed' | 'max-tokens' | undefined
  readonly batch?: ToolBatch
}

/** One answer of the model and the tool calls in it. A request that failed may be asked again, within the same step. */
export async function runStep(host: LoopHost, place: StepPlace, signal: AbortSignal): Promise<StepOutcome> {
  let system: string | undefined
  while (true) {
    const request = await untilAborted(prepareRequest(host, signal, system), signal, () => giveUp(signal))
    system = request.system
    const answer = await streamAnswer(host, place, request, signal)
    const { finish } = answer
    if (finish.kind === 'error' || finish.kind === 'aborted') {
      signal.throwIfAborted()
      if (await askAgain(host, place, request, finish.failure, signal)) continue
      throw errorFromFailure(finish.failure)
    }
    logAnswer(host, place, request, answer)
    if (finish.kind === 'max-tokens') return { ended: 'max-tokens' }
    const calls = answer.content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
    if (calls.length === 0) return { ended: 'completed' }
    const batch = await runToolCalls(host, place, calls, signal)
    return { ended: batch.concluded ? 'completed' : undefined, batch }
  }
}

interface Answer extends AssembledMessage {
  readonly chunkSeqs: readonly number[]
}

/** Logs every chunk as it comes. A cancelled stream leaves what was worth keeping as an interrupted message. */
async function streamAnswer(
  { session }: LoopHost,
  { turn, step }: StepPlace,
  request: Request,
  signal: AbortSignal,
): Promise<Answer> {
  const assembler = createAssembler()
  const chunkSeqs: number[] = []
  const watch = watchStream()
  const keepPrefix = (content: readonly ContentBlock[]) => {
    if (content.length === 0) return
    const { usage } = assembler
    session.append(
      'assistant/message',
      {
        turn,
        step,
        message: assistantMessage(request, content),
        ...(usage === undefined ? {} : { usage }),
        interrupted: true,
      },
      { surfaceOp: 'append', sourceEventSeqs: chunkSeqs },
    )
  }
  try {
    for await (const chunk of abortable(request.prepared.stream(request.options), signal)) {
      signal.throwIfAborted()
      chunkSeqs.push(session.append('assistant/chunk', { turn, step, chunk }).seq)
      assembler.push(chunk)
      const hit = watch.push(chunk)
      if (hit !== undefined) throw new LimitStop(hit)
    }
    signal.throwIfAborted()
  } catch (error) {
    if (error instanceof LimitStop) keepPrefix(assembler.interruptedContent().map(withoutRepeats))
    else if (signal.aborted) keepPrefix(assembler.interruptedContent())
    throw nameFrozenWrite(error)
  }
  return { ...assembler.result(), chunkSeqs }
}

function logAnswer({ session }: LoopHost, { turn, step }: StepPlace, request: Request, answer: Answer): void {
  session.append(
    'assistant/message',
    {
      turn,
      step,
      message: assistantMessage(request, answer.content, answer.replayState),
      ...(answer.usage === undefined ? {} : { usage: answer.usage }),
    },
    { surfaceOp: 'append', sourceEventSeqs: answer.chunkSeqs },
  )
}

function assistantMessage({ options }: Request, content: readonly ContentBlock[], replayState?: ReplayState) {
  const { provider, model } = options
  return {
    role: 'assistant' as const,
    content,
    source: { kind: 'model' as const, provider, model, ...(replayState === undefined ? {} : { replayState }) },
    id: randomUUID(),
  }
}

async function askAgain(
  { ctx, agent }: LoopHost,
  { turn, step }: StepPlace,
  { options }: Request,
  failure: LlmFailure,
  signal: AbortSignal,
): Promise<boolean> {
  const input = { agent, turn, step, provider: options.provider, failure, signal }
  const decision = ctx.waterfall(scopeTarget(agent), 'agent/request-error', input, async () => undefined)
  const action = await untilAborted(decision, signal, () => giveUp(signal))
  return action?.kind === 'retry'
}
