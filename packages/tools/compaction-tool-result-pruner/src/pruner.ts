import type { ToolResultBlock } from '@dsh/llm'
import type { Session, SessionEventOf } from '@dsh/session'
import type { TokenMeter } from '@dsh/token-meter'
import { type PruneRule, pruneText } from './prune-text.ts'
import type { ToolResultPruner } from './types.ts'

interface Pruned {
  readonly event: SessionEventOf<'tool/result'>
  readonly message: SessionEventOf<'tool/result'>['data']['message']
  readonly freed: number
}

export function createPruner(rule: PruneRule, meter: TokenMeter): ToolResultPruner {
  const prunedForm = (session: Session, seq: number): Pruned | undefined => {
    const event = session.events[seq]
    if (event?.type !== 'tool/result') return undefined
    const { message } = event.data
    const block = message.content[0]
    if (block?.type !== 'tool-result') return undefined
    const text = plainText(block)
    const short = text === undefined ? undefined : pruneText(text, rule)
    if (short === undefined) return undefined
    const pruned = { ...message, content: [{ ...block, content: [{ type: 'text' as const, text: short }] }] }
    return { event, message: pruned, freed: meter.estimateMessage(message) - meter.estimateMessage(pruned) }
  }

  return {
    wouldFree: (session, seqs) => seqs.reduce((sum, seq) => sum + (prunedForm(session, seq)?.freed ?? 0), 0),
    prune(session, seqs) {
      let freed = 0
      for (const seq of seqs) {
        const pruned = prunedForm(session, seq)
        if (pruned === undefined) continue
        const { event, message } = pruned
        session.append('compaction/prune', {
          shadowedRange: { start: seq, end: seq },
          shadowedSeqs: [seq],
          shadowedTokenCount: meter.estimateMessage(event.data.message),
        })
        session.append(
          'tool/result',
          { ...event.data, message },
          { sourceEventSeqs: [seq], surfaceOp: { op: 'replace', start: seq, end: seq } },
        )
        freed += pruned.freed
      }
      return freed
    },
  }
}

/** The text of a result that is nothing but text. */
function plainText(block: ToolResultBlock): string | undefined {
  let text = ''
  for (const inner of block.content) {
    if (inner.type !== 'text') return undefined
    text += inner.text
  }
  return text
}
