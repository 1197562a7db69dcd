import type { Highlighter } from '../highlight.ts'
import type { Item } from '../items.ts'
import { sanitize } from '../sanitize.ts'
import { StreamingMarkdown } from '../streaming-markdown.ts'
import { markdownTheme, type Theme } from '../theme.ts'
import { fit, head, wrap } from './fit.ts'
import type { Pictures } from './pictures.ts'
import { toolCard } from './tool.ts'

export interface ItemRenderer {
  /** The printed lines of one item, each within `width`; cached until the item, the width or the expansion changes. */
  render(item: Item, width: number, expanded: boolean): readonly string[]
  forget(item: Item): void
  /** Drops every cached line (a theme or a highlighter arrived). */
  invalidate(): void
}

interface Cached {
  readonly version: number
  readonly width: number
  readonly expanded: boolean
  readonly lines: readonly string[]
}

export function createItemRenderer(theme: Theme, highlight: Highlighter, pictures?: Pictures): ItemRenderer {
  const cache = new Map<number, Cached>()
  const answers = new Map<number, StreamingMarkdown>()
  const markdown = markdownTheme(theme, highlight)
  const draw = (item: Item, width: number, expanded: boolean): string[] => {
    switch (item.kind) {
      case 'prompt': {
        const lines = wrap(sanitize(item.text), width - 2)
        const shown = expanded
          ? lines
          : head(lines, 20, (count) => theme.dim(`… ${count} more lines (ctrl+o shows all)`))
        return shown.map((line, at) => theme.accent(`${at === 0 ? '❯' : ' '} ${line}`))
      }
      case 'answer': {
        const text = sanitize(item.text)
        if (text.trim() === '') return []
        let view = answers.get(item.id)
        if (view === undefined) {
          view = new StreamingMarkdown(markdown)
          answers.set(item.id, view)
        }
        view.setText(text)
        return [...view.render(width), ...(item.interrupted ? [theme.warn('(cut off here)')] : [])]
      }
      case 'reasoning':
        return reasoning(sanitize(item.text), item.done, width, expanded, theme)
      case 'tool':
        return [
          ...toolCard(item, { theme, width, expanded }),
          ...(item.pictures ?? []).flatMap((ref) => pictures?.render(ref, width) ?? []),
        ]
      case 'notice': {
        const paint = item.tone === 'bad' ? theme.bad : item.tone === 'warn' ? theme.warn : theme.dim
        return wrap(sanitize(item.text), width - 2).map((line, at) => paint(`${at === 0 ? '·' : ' '} ${line}`))
      }
    }
  }
  return {
    render(item, width, expanded) {
      const known = cache.get(item.id)
      if (known !== undefined && known.version === item.version && known.width === width && known.expanded === expanded)
        return known.lines
      const lines = fit(draw(item, width, expanded), width)
      if (lines.length > 0) lines.push('')
      cache.set(item.id, { version: item.version, width, expanded, lines })
      return lines
    },
    forget(item) {
      cache.delete(item.id)
      answers.delete(item.id)
    },
    invalidate() {
      cache.clear()
      for (const view of answers.values()) view.invalidate()
    },
  }
}

/** Folded to one line once it is over; while it streams, its last three lines. */
function reasoning(text: string, done: boolean, width: number, expanded: boolean, theme: Theme): string[] {
  const lines = wrap(text.trim(), width - 2)
  if (text.trim() === '') return []
  if (expanded) return lines.map((line) => theme.dim(theme.italic(`  ${line}`)))
  if (done)
    return [theme.dim(`∴ thought for ${lines.length} ${lines.length === 1 ? 'line' : 'lines'} (ctrl+o shows it)`)]
  return lines.slice(-3).map((line) => theme.dim(theme.italic(`  ${line}`)))
}
