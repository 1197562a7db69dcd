import type { ContentBlock, FinishReason, ReplayState, StreamChunk, TokenUsage } from './types.ts'

export interface AssembledMessage {
  /** Blocks in first-seen order; without tool calls after `max-tokens`. */
  readonly content: readonly ContentBlock[]
  readonly usage?: TokenUsage
  /** A stream without a finish chunk counts as `stop`. */
  readonly finish: FinishReason
  readonly replayState?: ReplayState
}

export interface ChunkAssembler {
  push(chunk: StreamChunk): void
  /** The message so far, as a finished one. */
  result(): AssembledMessage
  /** What is worth keeping of a stream that was cut: text and reasoning that is not blank. */
  interruptedContent(): readonly ContentBlock[]
  readonly usage: TokenUsage | undefined
  readonly finish: FinishReason | undefined
}

interface OpenBlock {
  readonly index: number
  readonly kind: 'text' | 'reasoning' | 'tool-call'
  readonly parts: string[]
  id: string
  name: string
  closed: ContentBlock | undefined
}

/** Folds the chunks of one model call into a message. Accepts providers that send deltas only. */
export function createAssembler(): ChunkAssembler {
  const blocks = new Map<number, OpenBlock>()
  let usage: TokenUsage | undefined
  let finish: FinishReason | undefined
  let replayState: ReplayState | undefined

  const open = (index: number, kind: OpenBlock['kind']): OpenBlock => {
    let block = blocks.get(index)
    if (block === undefined) {
      block = { index, kind, parts: [], id: '', name: '', closed: undefined }
      blocks.set(index, block)
    }
    return block
  }

  return {
    push(chunk) {
      switch (chunk.type) {
        case 'block-start':
          open(chunk.index, chunk.blockType)
          return
        case 'text-delta':
          open(chunk.index, 'text').parts.push(chunk.text)
          return
        case 'reasoning-delta':
          open(chunk.index, 'reasoning').parts.push(chunk.text)
          return
        case 'tool-call-delta': {
          const block = open(chunk.index, 'tool-call')
          block.id ||= chunk.id
          block.name ||= chunk.name ?? ''
          block.parts.push(chunk.argumentsDelta)
          return
        }
        case 'block-end':
          open(chunk.index, kindOf(chunk.block)).closed ??= chunk.block
          return
        case 'usage':
          usage = chunk.usage
          return
        case 'finish':
          finish ??= chunk.reason
          replayState ??= chunk.replayState
      }
    },
    result() {
      const all = [...blocks.values()].map(content)
      const cut = finish?.kind === 'max-tokens'
      const kept = cut ? all.filter((block) => block.type !== 'tool-call') : all
      const state = replayState && alignState(replayState, all, cut)
      return {
        content: kept,
        ...(usage === undefined ? {} : { usage }),
        finish: finish ?? { kind: 'stop' },
        ...(state === undefined ? {} : { replayState: state }),
      }
    },
    interruptedContent() {
      return [...blocks.values()]
        .map(content)
        .filter((block) => (block.type === 'text' || block.type === 'reasoning') && block.text.trim() !== '')
    },
    get usage() {
      return usage
    },
    get finish() {
      return finish
    },
  }
}

function kindOf(block: ContentBlock): OpenBlock['kind'] {
  return block.type === 'reasoning' || block.type === 'tool-call' ? block.type : 'text'
}

function content(block: OpenBlock): ContentBlock {
  if (block.closed !== undefined) return block.closed
  const text = block.parts.join('')
  if (block.kind !== 'tool-call') return { type: block.kind, text }
  return { type: 'tool-call', id: block.id || `call-${block.index}`, name: block.name, arguments: text }
}

/** Provider data of single blocks is only good while it lines up with them. */
function alignState(state: ReplayState, all: readonly ContentBlock[], cut: boolean): ReplayState | undefined {
  if (state.blocks === undefined) return state
  if (state.blocks.length !== all.length) return state.response === undefined ? undefined : { response: state.response }
  if (!cut) return state
  return { ...state, blocks: state.blocks.filter((_, i) => all[i]?.type !== 'tool-call') }
}
