import type { Theme } from './theme.ts'

export type Highlighter = (code: string, lang?: string) => string[]

/**
 * Code to coloured lines. highlight.js loads with the first code block that is drawn; until it is there, and without
 * colours, code is drawn plain.
 */
export function createHighlighter(theme: Theme, loaded: () => void): Highlighter {
  let engine:
    | {
        highlight(code: string, options: { language: string; ignoreIllegals: true }): { value: string }
        getLanguage(name: string): unknown
      }
    | undefined
  let loading = false
  return (code, lang) => {
    if (!theme.color || lang === undefined || lang === '') return code.split('\n')
    if (engine === undefined) {
      if (!loading) {
        loading = true
        void import('highlight.js/lib/common').then((module) => {
          engine = module.default
          loaded()
        })
      }
      return code.split('\n')
    }
    if (engine.getLanguage(lang) === undefined) return code.split('\n')
    return paintMarkup(engine.highlight(code, { language: lang, ignoreIllegals: true }).value, theme).split('\n')
  }
}

const entities: { readonly [name: string]: string } = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&#x27;': "'",
}

/** highlight.js gives nested spans; the innermost known class paints, line by line so that no colour crosses a line end. */
export function paintMarkup(markup: string, theme: Theme): string {
  const classes: string[] = []
  return markup
    .split(/(<span class="[^"]*">|<\/span>)/)
    .map((part) => {
      if (part === '</span>') {
        classes.pop()
        return ''
      }
      const open = /^<span class="([^"]*)">$/.exec(part)
      if (open !== null) {
        classes.push(open[1] ?? '')
        return ''
      }
      const text = part.replace(/&(?:lt|gt|amp|quot|#x27);/g, (entity) => entities[entity] ?? entity)
      const paint = paintOf(classes.at(-1) ?? '', theme)
      return paint === undefined
        ? text
        : text
            .split('\n')
            .map((line) => (line === '' ? '' : paint(line)))
            .join('\n')
    })
    .join('')
}

function paintOf(name: string, theme: Theme): ((text: string) => string) | undefined {
  if (/keyword|built_in|literal|selector-tag/.test(name)) return theme.link
  if (/string|regexp|addition/.test(name)) return theme.good
  if (/comment|quote|meta/.test(name)) return theme.dim
  if (/number|symbol|variable|attr/.test(name)) return theme.warn
  if (/title|function|class|name|type/.test(name)) return theme.accent
  if (/deletion/.test(name)) return theme.bad
  return undefined
}
