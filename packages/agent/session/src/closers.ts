import { deepFreeze } from '@dsh/core'
import type { SessionEvent } from './types.ts'

const outcomeUnknown =
  'The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry blindly.'
const notStarted =
  'The tool call was interrupted before it was recorded as started. It did not run. Retry it if it is still needed.'

interface OpenTurn {
  readonly turn: number
  readonly step: number | undefined
  /** Calls of the open step without a result, in block order. */
  readonly calls: readonly { readonly id: string; readonly callSeq: number | undefined }[]
}

/**
 * What a log whose writer died in the middle of a turn lacks: a result for each open call, the step's end, the turn's
 * end. Their time is the last event's; the key order is that of repair (docs/log-format.md).
 */
export function interruptedTurnClosers(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const open = openTurnOf(events)
  const last = events.at(-1)
  if (open === undefined || last === undefined) return []
  const closers: unknown[] = []
  const next = () => ({ seq: events.length + closers.length, time: last.time })
  const { turn, step } = open
  if (step !== undefined) {
    for (const { id, callSeq } of open.calls) closers.push(resultCloser(next(), turn, step, id, callSeq))
    closers.push({ type: 'step/end', ...next(), data: { turn, step } })
  }
  closers.push({ type: 'turn/end', ...next(), data: { turn, reason: { kind: 'interrupted' } } })
  return deepFreeze(closers) as SessionEvent[]
}

function resultCloser(
  at: { seq: number; time: number },
  turn: number,
  step: number,
  callId: string,
  callSeq: number | undefined,
): unknown {
  const started = callSeq !== undefined
  const content = [{ type: 'text', text: started ? outcomeUnknown : notStarted }]
  return {
    type: 'tool/result',
    ...at,
    data: {
      turn,
      step,
      message: {
        id: `interrupted-tool-result-${callId}-${at.seq}`,
        role: 'user',
        source: { kind: 'tool', callId },
        content: [{ type: 'tool-result', toolCallId: callId, isError: true, content }],
      },
      error: started
        ? { name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' }
        : { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' },
    },
    surfaceOp: 'append',
    ...(started ? { sourceEventSeqs: [callSeq] } : {}),
  }
}

function openTurnOf(events: readonly SessionEvent[]): OpenTurn | undefined {
  const turnAt = events.findLastIndex((event) => event.type === 'turn/start')
  const start = events[turnAt]
  if (start?.type !== 'turn/start') return undefined
  let step: number | undefined
  let calls = new Map<string, number | undefined>()
  for (const event of events.slice(turnAt + 1)) {
    if (event.type === 'turn/end') return undefined
    if (event.type === 'step/start') {
      step = event.data.step
      calls = new Map()
    } else if (event.type === 'step/end') step = undefined
    else if (event.type === 'assistant/message') {
      for (const block of event.data.message.content) if (block.type === 'tool-call') calls.set(block.id, undefined)
    } else if (event.type === 'tool/call') {
      if (calls.has(event.data.callId)) calls.set(event.data.callId, event.seq)
    } else if (event.type === 'tool/result') {
      const block = event.data.message.content[0]
      if (block?.type === 'tool-result') calls.delete(block.toolCallId)
    }
  }
  return { turn: start.data.turn, step, calls: [...calls].map(([id, callSeq]) => ({ id, callSeq })) }
}
