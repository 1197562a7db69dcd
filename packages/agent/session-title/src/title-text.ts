import { cutUtf8End } from '@dsh/core'
import type { ContentBlock } from '@dsh/llm'

/** One line without control characters, at most `maxBytes` of UTF-8; undefined when nothing is left. */
export function cleanTitle(text: string, maxBytes: number): string | undefined {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  const title = cutUtf8End(line, maxBytes).trimEnd()
  return title === '' ? undefined : title
}

/** The first words of a prompt. */
export function fallbackTitle(
  content: readonly ContentBlock[],
  limits: { readonly maxWords: number; readonly maxBytes: number },
): string | undefined {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')
  const words = text
    .slice(0, 10_000)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .split(' ')
  return cleanTitle(words.slice(0, limits.maxWords).join(' '), limits.maxBytes)
}
