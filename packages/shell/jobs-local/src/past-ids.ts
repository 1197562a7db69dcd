import type { ContentBlock } from '@dsh/llm'
import type { Fold } from '@dsh/session'

const started = /^started background job ([a-z_]+)-(\d+)$/

/**
 * The highest number given per kind, read from what the model was told in this session. A resumed or forked session
 * goes on from there, so that an id in its history never names another job.
 */
export const pastIds: Fold<Map<string, number>> = {
  initial: () => new Map(),
  apply: (highest, event) => {
    if (event.type !== 'tool/result') return highest
    for (const text of texts(event.data.message.content)) {
      const match = started.exec(text)
      if (match === null) continue
      const [, kind = '', number = '0'] = match
      highest.set(kind, Math.max(highest.get(kind) ?? 0, Number(number)))
    }
    return highest
  },
}

function texts(content: readonly ContentBlock[]): string[] {
  return content.flatMap((block) => {
    if (block.type === 'tool-result') return texts(block.content)
    return block.type === 'text' ? [block.text] : []
  })
}
