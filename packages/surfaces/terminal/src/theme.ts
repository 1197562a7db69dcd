import type { EditorTheme, MarkdownTheme, SelectListTheme } from '@mariozechner/pi-tui'

export type Paint = (text: string) => string

export interface Theme {
  readonly color: boolean
  readonly accent: Paint
  readonly dim: Paint
  readonly bold: Paint
  readonly italic: Paint
  readonly good: Paint
  readonly bad: Paint
  readonly warn: Paint
  readonly added: Paint
  readonly removed: Paint
  readonly link: Paint
  readonly code: Paint
}

const plain: Paint = (text) => text

/** Sixteen colours only: they follow the person's own terminal palette, light or dark. */
export function createTheme(env: NodeJS.ProcessEnv): Theme {
  const color = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  const sgr = (open: number, close: number): Paint => (color ? (text) => `\x1b[${open}m${text}\x1b[${close}m` : plain)
  return {
    color,
    accent: sgr(36, 39),
    dim: sgr(2, 22),
    bold: sgr(1, 22),
    italic: sgr(3, 23),
    good: sgr(32, 39),
    bad: sgr(31, 39),
    warn: sgr(33, 39),
    added: sgr(32, 39),
    removed: sgr(31, 39),
    link: sgr(34, 39),
    code: sgr(36, 39),
  }
}

export function markdownTheme(theme: Theme, highlightCode?: (code: string, lang?: string) => string[]): MarkdownTheme {
  return {
    heading: (text) => theme.bold(theme.accent(text)),
    link: theme.link,
    linkUrl: theme.dim,
    code: theme.code,
    codeBlock: plain,
    codeBlockBorder: theme.dim,
    quote: theme.italic,
    quoteBorder: theme.dim,
    hr: theme.dim,
    listBullet: theme.accent,
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: theme.dim,
    underline: theme.bold,
    ...(highlightCode === undefined ? {} : { highlightCode }),
  }
}

export function selectTheme(theme: Theme): SelectListTheme {
  return {
    selectedPrefix: theme.accent,
    selectedText: theme.bold,
    description: theme.dim,
    scrollInfo: theme.dim,
    noMatch: theme.warn,
  }
}

export function editorTheme(theme: Theme): EditorTheme {
  return { borderColor: theme.dim, selectList: selectTheme(theme) }
}
