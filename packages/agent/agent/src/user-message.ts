import { randomUUID } from 'node:crypto'
import type { ContentBlock, UserMessage } from '@dsh/llm'

/** A message for the model in the log's key order. Without a source it is a person's prompt. */
export function userMessage(
  content: string | readonly ContentBlock[],
  source: UserMessage['source'] = { kind: 'user' },
): UserMessage {
  const blocks: readonly ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { content: blocks, source, role: 'user', id: randomUUID() }
}

/** Context that a row injects; `plugin` is the package that speaks. A notice carries a summary of at most 120 characters. */
export function pluginMessage(
  text: string,
  source: { readonly plugin: string; readonly form?: string; readonly [field: string]: unknown },
): UserMessage {
  return userMessage(text, { kind: 'plugin', ...source })
}
