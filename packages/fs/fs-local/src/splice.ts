import { type FsEditRequest, type LineEnding, majorityEnding } from '@dsh/fs'
import { toLf } from './text.ts'

export interface SpliceResult {
  /** Non-overlapping occurrences, counted left to right. */
  readonly count: number
  /** The new text, byte for byte the old one outside the replaced spans; absent unless something was replaced. */
  readonly text?: string
  /** 1-based lines of the first occurrences, for a message. */
  readonly lines: readonly number[]
}

const shownLines = 10

/**
 * Literal replacement. Matching sees LF only, so a needle with either line ending finds either; the spans are then
 * cut out of the text as it is. Lines that the replacement adds end as the first matched line does, or, where that
 * is the unterminated last one, as most lines of the file do.
 */
export function splice(raw: string, edit: FsEditRequest): SpliceResult {
  const needle = toLf(edit.oldString)
  const text = toLf(raw)
  const starts = occurrences(text, needle)
  const lines = starts.slice(0, shownLines).map((start) => lineAt(text, start))
  if (starts.length === 0 || (starts.length > 1 && !edit.replaceAll)) return { count: starts.length, lines }

  const crlf = crlfOffsets(raw)
  const eol = lineEnding(text, starts[0] as number, crlf)
  const replacement = toLf(edit.newString)
  // What both have in common stays as it is, endings included.
  const { prefix, suffix } = common(needle, replacement)
  const inserted = withEnding(replacement.slice(prefix, replacement.length - suffix), eol)
  const pieces: string[] = []
  let at = 0
  for (const start of starts) {
    pieces.push(raw.slice(at, rawOffset(start + prefix, crlf)), inserted)
    at = rawOffset(start + needle.length - suffix, crlf)
  }
  pieces.push(raw.slice(at))
  return { count: starts.length, text: pieces.join(''), lines }
}

const loneSurrogate = /\p{Surrogate}/u

/** Half a surrogate pair is no character of a well-formed file, so it occurs nowhere. */
function occurrences(text: string, needle: string): number[] {
  const found: number[] = []
  if (needle === '' || loneSurrogate.test(needle)) return found
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) found.push(at)
  return found
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Offsets, in LF-normalised text, of the line feeds that are CRLF in the file. */
function crlfOffsets(raw: string): readonly number[] {
  const offsets: number[] = []
  for (let at = raw.indexOf('\r\n'); at !== -1; at = raw.indexOf('\r\n', at + 2)) offsets.push(at - offsets.length)
  return offsets
}

function rawOffset(offset: number, crlf: readonly number[]): number {
  let low = 0
  let high = crlf.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((crlf[middle] as number) < offset) low = middle + 1
    else high = middle
  }
  return offset + low
}

function lineEnding(text: string, start: number, crlf: readonly number[]): LineEnding {
  if (crlf.length === 0) return '\n'
  const feed = text.indexOf('\n', start)
  if (feed !== -1) return rawOffset(feed + 1, crlf) > rawOffset(feed, crlf) + 1 ? '\r\n' : '\n'
  return majorityEnding(crlf.length, text.split('\n').length - 1)
}

function common(a: string, b: string): { readonly prefix: number; readonly suffix: number } {
  const shorter = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < shorter && a[prefix] === b[prefix]) prefix++
  let suffix = 0
  while (suffix < shorter - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix++
  return { prefix, suffix }
}

function withEnding(text: string, eol: LineEnding): string {
  return eol === '\n' ? text : text.replaceAll('\n', '\r\n')
}
