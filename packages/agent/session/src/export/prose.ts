import { escapeHtml } from './markdown.ts'

/** The part of Markdown that answers are made of: fences, headings, lists, quotes, code, bold. Everything is escaped. */
export function proseToHtml(text: string): string {
  const html: string[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as string
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      const end = lines.findIndex((later, at) => at > i && later.trim() === fence)
      const stop = end < 0 ? lines.length : end
      html.push(`<pre><code>${escapeHtml(lines.slice(i + 1, stop).join('\n'))}</code></pre>`)
      i = stop + 1
    } else if (line.trim() === '') i++
    else {
      const kind = kindOf(line)
      const start = i
      while (i < lines.length && (lines[i] as string).trim() !== '' && kindOf(lines[i] as string) === kind) {
        i++
        if (kind === 'heading') break
      }
      html.push(block(kind, lines.slice(start, i)))
    }
  }
  return html.join('')
}

type Kind = 'heading' | 'bullets' | 'numbers' | 'quote' | 'fence' | 'paragraph'

function kindOf(line: string): Kind {
  if (/^#{1,6}\s/.test(line)) return 'heading'
  if (/^\s*[-*+]\s/.test(line)) return 'bullets'
  if (/^\s*\d+[.)]\s/.test(line)) return 'numbers'
  if (/^\s*>/.test(line)) return 'quote'
  return /^\s*(`{3,}|~{3,})/.test(line) ? 'fence' : 'paragraph'
}

function block(kind: Kind, lines: readonly string[]): string {
  switch (kind) {
    case 'heading':
      return `<h3>${inline((lines[0] as string).replace(/^#+\s*/, ''))}</h3>`
    case 'bullets':
    case 'numbers': {
      const items = lines.map((line) => `<li>${inline(line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, ''))}</li>`)
      return kind === 'bullets' ? `<ul>${items.join('')}</ul>` : `<ol>${items.join('')}</ol>`
    }
    case 'quote':
      return `<blockquote>${lines.map((line) => inline(line.replace(/^\s*>\s?/, ''))).join('<br>')}</blockquote>`
    default:
      return `<p>${lines.map(inline).join('<br>')}</p>`
  }
}

/** Code spans first: nothing inside them is anything but text. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => {
      if (part.length > 2 && part.startsWith('`') && part.endsWith('`'))
        return `<code>${escapeHtml(part.slice(1, -1))}</code>`
      return escapeHtml(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    })
    .join('')
}
