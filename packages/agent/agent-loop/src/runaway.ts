import { sliceCodePoints } from '@dsh/core'
import type { ContentBlock, StreamChunk } from '@dsh/llm'
import type { LimitHit } from './limits.ts'

/** The tail that is looked at; a period longer than half of it goes unnoticed. */
const windowChars = 4096
/** A tail counts as degenerate when it repeats a unit of at most this length … */
const maxUnitChars = 400
/** … at least this often, and fills the window with it. */
const minRepeats = 10
/** Far above what any model may answer with; a stream beyond it has lost its end. */
const maxStreamChars = 16 * 1024 * 1024

export interface RunawayWatch {
  /** The reason to stop the stream, once there is one. */
  push(chunk: StreamChunk): LimitHit | undefined
}

/** Watches one model answer for the two ways in which it never ends. */
export function watchStream(): RunawayWatch {
  const tails = new Map<string, { tail: string; unread: number }>()
  let total = 0
  return {
    push(chunk) {
      const delta = deltaOf(chunk)
      if (delta === undefined || delta.text === '') return undefined
      total += delta.text.length
      if (total > maxStreamChars)
        return {
          limit: 'output-size',
          value: total,
          max: maxStreamChars,
          reason: `the answer did not end within ${maxStreamChars} characters`,
        }
      const seen = tails.get(delta.key) ?? { tail: '', unread: 0 }
      seen.tail = (seen.tail + delta.text).slice(-windowChars)
      seen.unread += delta.text.length
      tails.set(delta.key, seen)
      if (seen.unread < windowChars / 4 || seen.tail.length < windowChars) return undefined
      seen.unread = 0
      const unit = repeatedUnit(seen.tail)
      if (unit === undefined) return undefined
      return {
        limit: 'degenerate-output',
        value: Math.floor(seen.tail.length / unit),
        max: minRepeats,
        reason: 'the model repeated the same text over and over',
      }
    },
  }
}

/** The length of the unit that fills the whole text, if a short one does. Blank runs (indentation, tables) do not count. */
export function repeatedUnit(text: string): number | undefined {
  if (text.trim() === '') return undefined
  // The shortest period of a text is its length minus its longest border.
  const border = new Int32Array(text.length)
  for (let i = 1, k = 0; i < text.length; i++) {
    while (k > 0 && text[i] !== text[k]) k = border[k - 1] as number
    if (text[i] === text[k]) k++
    border[i] = k
  }
  const unit = text.length - (border.at(-1) as number)
  return unit <= maxUnitChars && text.length / unit >= minRepeats ? unit : undefined
}

/** A block without the repetition at its end: one copy of the unit stays, so that the log shows what happened. */
export function withoutRepeats(block: ContentBlock): ContentBlock {
  if (block.type !== 'text' && block.type !== 'reasoning') return block
  const { text } = block
  const unit = text.length < windowChars ? undefined : repeatedUnit(text.slice(-windowChars))
  if (unit === undefined) return block
  let start = text.length - windowChars
  while (start > 0 && text[start - 1] === text[start - 1 + unit]) start--
  return { ...block, text: `${sliceCodePoints(text, start + unit)} […]` }
}

function deltaOf(chunk: StreamChunk): { readonly key: string; readonly text: string } | undefined {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { key: `${chunk.type}${chunk.index}`, text: chunk.text }
    case 'tool-call-delta':
      return { key: `${chunk.type}${chunk.index}`, text: chunk.argumentsDelta }
    default:
      return undefined
  }
}
