import type { Message } from '@dsh/llm'

/** Surface nodes that stay together: an answer with tool calls and the results of these, or a single message. */
export interface Group {
  readonly seqs: readonly number[]
  readonly tokens: number
  readonly kind: 'answer' | 'checkpoint' | 'other'
}

export interface Node {
  readonly seq: number
  /** Undefined for an answer that shows the model nothing. */
  readonly message: Message | undefined
}

export function groupNodes(nodes: readonly Node[], estimate: (message: Message) => number): Group[] {
  const groups: Group[] = []
  for (let i = 0; i < nodes.length; ) {
    const end = groupEnd(nodes, i)
    const members = nodes.slice(i, end)
    groups.push({
      seqs: members.map(({ seq }) => seq),
      tokens: members.reduce((sum, { message }) => sum + (message === undefined ? 0 : estimate(message)), 0),
      kind: kindOf(members[0]?.message),
    })
    i = end
  }
  return groups
}

/** Index behind the group: past the last result of the calls in its first message. */
function groupEnd(nodes: readonly Node[], start: number): number {
  const first = nodes[start]?.message
  if (first?.role !== 'assistant') return start + 1
  const open = new Set(first.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])))
  let end = start + 1
  while (open.size > 0 && end < nodes.length) {
    const message = nodes[end]?.message
    if (message?.role === 'assistant') break
    for (const block of message?.content ?? []) if (block.type === 'tool-result') open.delete(block.toolCallId)
    end++
  }
  return end
}

function kindOf(message: Message | undefined): Group['kind'] {
  if (message?.role === 'assistant') return 'answer'
  const source = message?.source
  return source?.kind === 'plugin' && (source as { plugin?: unknown }).plugin === 'compact' ? 'checkpoint' : 'other'
}

/**
 * The groups from the head that may be summarised: all but a tail of `retainTokens`, which always holds the newest answer
 * with its results. Empty when nothing but an earlier checkpoint would be left to summarise.
 */
export function compactable(groups: readonly Group[], retainTokens: number): readonly Group[] {
  let end = newestAnswer(groups)
  let kept = tokensOf(groups.slice(end))
  while (end > 0 && kept + (groups[end - 1] as Group).tokens <= retainTokens) {
    end--
    kept += (groups[end] as Group).tokens
  }
  const range = groups.slice(0, end)
  return range.every((group) => group.kind === 'checkpoint') ? [] : range
}

function newestAnswer(groups: readonly Group[]): number {
  return Math.max(
    0,
    groups.findLastIndex((group) => group.kind === 'answer'),
  )
}

export function tokensOf(groups: readonly Group[]): number {
  return groups.reduce((sum, group) => sum + group.tokens, 0)
}
