import { randomUUID } from 'node:crypto'
import type { ToolCallBlock, ToolResultBlock, UserMessage } from '@dsh/llm'
import {
  type AdmittedCall,
  aborted,
  abortedBeforeDispatch,
  failedResult,
  type ToolCallInput,
  type ToolResult,
} from '@dsh/tools'
import type { LoopHost } from './host.ts'
import type { StepPlace } from './step.ts'
import { untilAborted } from './until-aborted.ts'

export interface ToolBatch {
  /** A result asked for the turn to end here. */
  readonly concluded: boolean
  /** Calls and results of the batch, for telling one step from the next. */
  readonly fingerprint: string
  readonly durationMs: number
}

/**
 * Runs the calls of one answer. Calls that are safe together overlap, at most `maxParallelToolCalls` at a time; any
 * other call runs alone. Whatever finishes first, policies run and results are logged in model order. Once the turn is
 * cancelled nothing starts any more, and every call still gets its result.
 */
export async function runToolCalls(
  host: LoopHost,
  place: StepPlace,
  calls: readonly ToolCallBlock[],
  signal: AbortSignal,
): Promise<ToolBatch> {
  const batch = new Batch(host, place, signal)
  let next = 0
  try {
    while (next < calls.length && !signal.aborted) {
      if (batch.mode(calls[next] as ToolCallBlock) === 'exclusive') {
        await batch.drained()
        await batch.start(calls[next++] as ToolCallBlock)
        await batch.drained()
      } else {
        await batch.slot(host.maxParallelToolCalls)
        const call = calls[next] as ToolCallBlock
        if (signal.aborted || batch.mode(call) === 'exclusive') continue
        await batch.start(call)
        next++
      }
    }
  } finally {
    await batch.drained()
  }
  for (const call of calls.slice(next)) batch.skip(call)
  return batch.summary()
}

class Batch {
  private readonly host: LoopHost
  private readonly place: StepPlace
  private readonly signal: AbortSignal
  private readonly bodies = new Set<Promise<void>>()
  /** Grows by one commit per call, so that results follow in model order. */
  private commits: Promise<void> = Promise.resolve()
  private concluded = false
  private readonly startedAt = performance.now()
  private readonly seen: string[] = []

  constructor(host: LoopHost, place: StepPlace, signal: AbortSignal) {
    this.host = host
    this.place = place
    this.signal = signal
  }

  mode(call: ToolCallBlock): 'parallel' | 'exclusive' {
    return this.host.tools.executionMode({ ...call, agent: this.host.agent })
  }

  /** Waits until fewer than `limit` bodies run. */
  async slot(limit: number): Promise<void> {
    while (this.bodies.size >= limit) await Promise.race(this.bodies)
  }

  async drained(): Promise<void> {
    await this.commits
  }

  async start(call: ToolCallBlock): Promise<void> {
    const seq = this.logCall(call)
    const admitted = await untilAborted<AdmittedCall>(this.host.tools.admit(this.input(call)), this.signal, () =>
      settledCall(failedResult(abortedBeforeDispatch())),
    )
    const body = untilAborted<'ran' | 'abandoned'>(
      admitted.run().then(() => 'ran'),
      this.signal,
      () => 'abandoned',
    )
    const tracked: Promise<void> = body.then(
      () => {},
      () => {},
    )
    this.bodies.add(tracked)
    tracked.then(() => this.bodies.delete(tracked))
    this.commits = this.commits.then(async () => {
      const result = (await body) === 'ran' ? await this.finish(admitted) : failedResult(aborted())
      this.commit(call, seq, result)
    })
    this.commits.catch(() => {})
  }

  /** A call that the cancelled turn never started: logged as called and as not dispatched. */
  skip(call: ToolCallBlock): void {
    this.commit(call, this.logCall(call), failedResult(abortedBeforeDispatch()))
  }

  summary(): ToolBatch {
    const durationMs = performance.now() - this.startedAt
    return { concluded: this.concluded, fingerprint: this.seen.join('\n'), durationMs }
  }

  private finish(admitted: AdmittedCall): Promise<ToolResult> {
    return untilAborted(admitted.finish(), this.signal, () => failedResult(aborted()))
  }

  private input(call: ToolCallBlock): ToolCallInput {
    const { agent } = this.host
    return { callId: call.id, name: call.name, arguments: call.arguments, agent, ...this.place, signal: this.signal }
  }

  private logCall(call: ToolCallBlock): number {
    const { id: callId, name } = call
    return this.host.session.append('tool/call', { ...this.place, callId, name, arguments: call.arguments }).seq
  }

  private commit(call: ToolCallBlock, callSeq: number, result: ToolResult): void {
    const block: ToolResultBlock = {
      type: 'tool-result',
      toolCallId: call.id,
      content: result.content,
      isError: result.isError,
    }
    this.host.session.append(
      'tool/result',
      {
        ...this.place,
        message: resultMessage(call.id, block),
        ...(result.error === undefined ? {} : { error: result.error }),
        ...(result.meta === undefined ? {} : { meta: result.meta }),
      },
      { surfaceOp: 'append', sourceEventSeqs: [callSeq] },
    )
    for (const context of result.additionalContexts ?? []) this.host.inbox.insert('next-step', context)
    if (result.concludesTurn === true && !result.isError) this.concluded = true
    this.seen.push(JSON.stringify([call.name, call.arguments, result.content]))
  }
}

/** Results have the key order of their own kind of message. */
function resultMessage(callId: string, block: ToolResultBlock): UserMessage {
  return { source: { kind: 'tool', callId }, content: [block], role: 'user', id: randomUUID() }
}

function settledCall(result: ToolResult): AdmittedCall {
  return { run: async () => {}, finish: async () => result }
}
