import { glance } from './html.ts'
import type { Entry, Transcript } from './transcript.ts'

/** A transcript for a terminal. Nothing in it can move a cursor or set a colour. */
export function toPlain(transcript: Transcript, options: { readonly maxResultLines: number }): string {
  const { id, title, cwd, createdAt, turns } = transcript
  const head = [title, id, cwd, new Date(createdAt).toISOString(), `${turns} turn${turns === 1 ? '' : 's'}`]
  const entries = transcript.entries
    .map((entry) => entryText(entry, options.maxResultLines))
    .filter((text) => text !== '')
  return printable(`${[head.filter((fact) => fact !== undefined).join(' · '), ...entries].join('\n\n')}\n`)
}

function entryText(entry: Entry, maxLines: number): string {
  switch (entry.kind) {
    case 'prompt':
      return indent('> ', entry.text)
    case 'context':
      return `[context from ${entry.from}, ${entry.text.length} characters]`
    case 'note':
      return `[${entry.text}]`
    case 'answer': {
      const tools = entry.tools.map((use) => {
        const state = use.result === undefined ? ' (no result)' : use.isError ? ' (failed)' : ''
        const result = use.result === undefined ? '' : `\n${indent('    ', firstLines(use.result, maxLines))}`
        return `  * ${use.name}${state}: ${glance(use.arguments)}${result}`
      })
      return [entry.text, ...tools, entry.interrupted ? '[interrupted]' : ''].filter((part) => part !== '').join('\n')
    }
  }
}

function firstLines(text: string, max: number): string {
  const lines = text.replace(/\n+$/, '').split('\n')
  if (lines.length <= max) return lines.join('\n')
  return [...lines.slice(0, max), `… ${lines.length - max} more lines`].join('\n')
}

function indent(mark: string, text: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n')
}

/** Control characters other than newline and tab are shown, not sent. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0)
    return code === 0x0d ? '' : code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd'
  })
}
