import { Markdown, type MarkdownTheme } from '@mariozechner/pi-tui'

/**
 * Markdown that grows. Finished blocks are rendered once and kept; only the open last block is parsed again with
 * each delta, so the cost of a delta does not grow with the answer.
 */
export class StreamingMarkdown {
  private text = ''
  private settledLength = 0
  private readonly settled: Markdown[] = []
  private readonly tail: Markdown
  private readonly theme: MarkdownTheme
  constructor(theme: MarkdownTheme) {
    this.theme = theme
    this.tail = new Markdown('', 0, 0, theme)
  }

  setText(text: string): void {
    if (!text.startsWith(this.text)) {
      this.settled.length = 0
      this.settledLength = 0
    }
    this.text = text
    const boundary = lastBoundary(text, this.settledLength)
    if (boundary > this.settledLength) {
      this.settled.push(new Markdown(text.slice(this.settledLength, boundary).trim(), 0, 0, this.theme))
      this.settledLength = boundary
    }
    this.tail.setText(text.slice(this.settledLength).trim())
  }

  invalidate(): void {
    for (const block of this.settled) block.invalidate()
    this.tail.invalidate()
  }

  render(width: number): string[] {
    const lines: string[] = []
    for (const block of [...this.settled, this.tail]) {
      const part = block.render(width)
      if (part.length === 0) continue
      if (lines.length > 0) lines.push('')
      lines.push(...part)
    }
    return lines
  }
}

/**
 * The end of the last blank line after `from` that ends a block for good: not inside a code fence, and not followed by a line that
 * could continue a list or an indented block.
 */
export function lastBoundary(text: string, from: number): number {
  let boundary = from
  let fence: string | undefined
  let at = from
  let blank = false
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end < 0) {
      if (blank && fence === undefined && startsBlock(text.slice(at))) boundary = at
      break
    }
    const line = text.slice(at, end)
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (blank && fence === undefined && startsBlock(line)) boundary = at
    if (mark !== undefined) {
      if (fence === undefined) fence = mark
      else if (mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = undefined
    }
    blank = line.trim() === ''
    at = end + 1
  }
  return boundary
}

function startsBlock(line: string): boolean {
  return line.trim() !== '' && !/^(\s|[-*+]\s|[-*+]$|\d+[.)]|\||>)/.test(line)
}
