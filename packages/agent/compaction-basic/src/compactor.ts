import { randomUUID } from 'node:crypto'
import { errorCode, errorText } from '@dsh/core'
import { LlmCode, type LlmService, type Message } from '@dsh/llm'
import { messageOf, type RequestHeader, type Session } from '@dsh/session'
import type { TokenMeter } from '@dsh/token-meter'
import { checkpointMessage } from './checkpoint.ts'
import { CompactionCode, compactionError } from './errors.ts'
import { compactable, type Group, groupNodes, tokensOf } from './groups.ts'
import { type Summary, summarise } from './summarise.ts'

export interface CompactorParts {
  readonly llm: LlmService
  readonly meter: TokenMeter
  readonly maxTokens: number
  readonly retries: number
}

export interface CompactRequest {
  readonly session: Session
  /** Null between turns. */
  readonly turn: number | null
  readonly retainTokens: number
  readonly sourceCommandId?: string
  readonly signal: AbortSignal
}

/** What a compaction took out; undefined when there was nothing worth taking out. */
export interface Compacted {
  readonly items: number
  readonly tokens: number
  /** Seq of the message that stands in for them. */
  readonly checkpointSeq: number
}

export type Compact = (request: CompactRequest) => Promise<Compacted | undefined>

/** How often the range is halved when the summary request is itself too long. */
const MAX_HALVINGS = 4

export function createCompactor({ llm, meter, maxTokens, retries }: CompactorParts): Compact {
  const busy = new Set<Session>()
  const emptyCheckpoint = meter.estimateMessage(checkpointMessage([], { compactionId: randomUUID() }))

  /** Replaces the head of the history by a summary. Throws when that failed; the log then says so, and nothing moved. */
  async function compact(request: CompactRequest): Promise<Compacted | undefined> {
    const { session } = request
    const header = session.requestHeader
    const range = compactable(groupsOf(session, meter), request.retainTokens)
    if (header === undefined || tokensOf(range) <= emptyCheckpoint) return undefined
    if (busy.has(session))
      throw compactionError(CompactionCode.BUSY, `compaction already in progress in session "${session.id}"`)
    busy.add(session)
    try {
      return await run(request, header, range)
    } finally {
      busy.delete(session)
    }
  }

  async function run(request: CompactRequest, header: RequestHeader, range: readonly Group[]): Promise<Compacted> {
    const { session, turn } = request
    const compactionId = randomUUID()
    const origin = { compactionId, ...(request.sourceCommandId && { sourceCommandId: request.sourceCommandId }) }
    const started = session.append('compaction/start', { ...origin, turn })
    let compacted: Compacted
    try {
      const { groups, summary } = await summariseRange(request, header, range)
      compacted = commit(session, header, origin, started.seq, groups, summary)
    } catch (error) {
      const cancelled = request.signal.aborted
      session.append('compaction/end', { ...origin, turn, error: cancelled ? 'cancelled' : errorText(error) })
      if (cancelled) throw compactionError(CompactionCode.CANCELLED, 'compaction was cancelled', error)
      throw error
    }
    session.append('compaction/end', { ...origin, turn })
    return compacted
  }

  /** A range whose summary request does not fit into the window itself is halved: less is freed, but something is. */
  async function summariseRange(request: CompactRequest, header: RequestHeader, range: readonly Group[]) {
    const { session, signal } = request
    let groups = range
    for (let halvings = 0; ; halvings++) {
      try {
        const messages = messagesOf(session, groups)
        const summary = await summarise({
          llm,
          header,
          messages,
          sessionId: session.id,
          maxTokens,
          retries,
          signal,
        })
        return { groups, summary }
      } catch (error) {
        const half = groups.slice(0, Math.floor(groups.length / 2))
        const again = errorCode(error) === LlmCode.CONTEXT_WINDOW_EXCEEDED && tokensOf(half) > emptyCheckpoint
        if (signal.aborted || !again || halvings === MAX_HALVINGS)
          throw compactionError(CompactionCode.SUMMARY, `the summary failed: ${errorText(error)}`, error)
        groups = half
      }
    }
  }

  function commit(
    session: Session,
    header: RequestHeader,
    origin: { readonly compactionId: string; readonly sourceCommandId?: string },
    startSeq: number,
    groups: readonly Group[],
    { summary, rawOutput, maxTokens: cap, usage }: Summary,
  ): Compacted {
    const shadowedSeqs = groups.flatMap((group) => group.seqs)
    const range = { start: shadowedSeqs[0] as number, end: shadowedSeqs.at(-1) as number }
    if (shadowedSeqs.some((seq, i) => session.surface[i] !== seq))
      throw compactionError(CompactionCode.CHANGED, 'the history changed while its summary was written')
    const tokens = tokensOf(groups)
    const checkpoint = checkpointMessage(summary, origin)
    const { seq } = session.append('compaction/summary', {
      ...origin,
      summary,
      rawOutput,
      llmStreamCall: true,
      shadowedRange: range,
      shadowedSeqs,
      shadowedTokenCount: tokens,
      provider: header.config.provider,
      model: header.config.model,
      maxTokens: cap,
      ...(usage === undefined ? {} : { usage }),
    })
    if (meter.estimateMessage(checkpoint) >= tokens)
      throw compactionError(CompactionCode.SUMMARY, 'the summary is not smaller than the history it would replace')
    const replaced = session.append('user/message', checkpoint, {
      sourceEventSeqs: [startSeq, seq, ...shadowedSeqs],
      surfaceOp: { op: 'replace', ...range },
    })
    return { items: shadowedSeqs.length, tokens, checkpointSeq: replaced.seq }
  }

  return compact
}

export function groupsOf(session: Session, meter: TokenMeter): Group[] {
  const nodes = session.surface.map((seq) => {
    const event = session.events[seq]
    return { seq, message: event === undefined ? undefined : messageOf(event) }
  })
  return groupNodes(nodes, meter.estimateMessage)
}

function messagesOf(session: Session, groups: readonly Group[]): Message[] {
  return groups.flatMap((group) =>
    group.seqs.flatMap((seq) => {
      const event = session.events[seq]
      const message = event === undefined ? undefined : messageOf(event)
      return message === undefined ? [] : [message]
    }),
  )
}
