import { fsError, fsErrors } from './errors.ts'
import { majorityEnding } from './line-endings.ts'
import type { FsPatchChunk } from './types.ts'

interface Line {
  readonly text: string
  /** '' on a last line without one. */
  readonly eol: '' | '\n' | '\r\n'
}

/**
 * Applies update chunks in order, each searched for behind the one before. Lines that stay keep their bytes, also
 * where they were found loosely; added lines end as the removed ones beside them did.
 */
export function applyChunks(text: string, chunks: readonly FsPatchChunk[], label: string): string {
  const lines = splitLines(text)
  const eol = majorityOf(lines)
  const out: Line[] = []
  let cursor = 0
  for (const chunk of chunks) {
    const place = locate(lines, chunk, cursor, label)
    out.push(...lines.slice(cursor, place.at))
    out.push(...rebuilt(lines, place.at, place.chunk, eol))
    cursor = place.at + oldLines(place.chunk).length
  }
  out.push(...lines.slice(cursor))
  return join(out, eol)
}

function locate(
  lines: readonly Line[],
  chunk: FsPatchChunk,
  from: number,
  label: string,
): { readonly at: number; readonly chunk: FsPatchChunk } {
  let start = from
  for (const context of chunk.contexts) {
    const hit = search(lines, [context], start, lines.length - 1)
    if (hit === undefined) throw fsError(fsErrors.editNotFound, `Failed to find context '${context}' in ${label}`)
    start = hit + 1
  }
  const wanted = oldLines(chunk)
  if (wanted.length === 0) return { at: insertionPoint(lines, chunk, start), chunk }
  const hit = place(lines, wanted, start, chunk.endOfFile)
  if (hit !== undefined) return { at: hit, chunk }
  const shorter = withoutTrailingBlank(chunk)
  if (shorter !== undefined) {
    const again = place(lines, oldLines(shorter), start, chunk.endOfFile)
    if (again !== undefined) return { at: again, chunk: shorter }
  }
  throw fsError(fsErrors.editNotFound, [`Failed to find expected lines in ${label}:`, ...wanted].join('\n'))
}

/** Additions alone go behind the context that names their place, else to the end. */
function insertionPoint(lines: readonly Line[], chunk: FsPatchChunk, start: number): number {
  if (chunk.contexts.length > 0 && !chunk.endOfFile) return start
  return lines.length
}

function place(
  lines: readonly Line[],
  wanted: readonly string[],
  from: number,
  endOfFile: boolean,
): number | undefined {
  const last = lines.length - wanted.length
  return search(lines, wanted, endOfFile ? Math.max(from, last) : from, last)
}

/** Four full passes, from exact to loose; the first hit of the first pass that has one. */
function search(lines: readonly Line[], wanted: readonly string[], from: number, last: number): number | undefined {
  for (const ease of passes) {
    const needle = wanted.map(ease)
    for (let at = from; at <= last; at++) {
      if (needle.every((line, index) => ease((lines[at + index] as Line).text) === line)) return at
    }
  }
  return undefined
}

const passes: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(/[\u2018-\u201B]/g, "'")
      .replace(/[\u201C-\u201F]/g, '"')
      .replace(/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, ' '),
]

function oldLines(chunk: FsPatchChunk): readonly string[] {
  return chunk.lines.filter((line) => line.kind !== 'add').map((line) => line.text)
}

/** The chunk without the empty line that ends its old block, and without one that ends its new block. */
function withoutTrailingBlank(chunk: FsPatchChunk): FsPatchChunk | undefined {
  const lines = [...chunk.lines]
  const oldEnd = lines.findLastIndex((line) => line.kind !== 'add')
  if (oldEnd === -1 || lines[oldEnd]?.text !== '' || oldLines(chunk).length === 1) return undefined
  const removed = lines.splice(oldEnd, 1)[0]
  if (removed?.kind === 'remove') {
    const newEnd = lines.findLastIndex((line) => line.kind !== 'remove')
    if (lines[newEnd]?.kind === 'add' && lines[newEnd]?.text === '') lines.splice(newEnd, 1)
  }
  return { ...chunk, lines }
}

function rebuilt(lines: readonly Line[], start: number, chunk: FsPatchChunk, eol: '\n' | '\r\n'): Line[] {
  const out: Line[] = []
  let at = start
  // Endings of the removed lines that the next added ones stand for; after them, of the line before.
  let removed: Line['eol'][] = []
  let beside: Line['eol'] = lines[start]?.eol ?? ''
  for (const line of chunk.lines) {
    if (line.kind === 'add') {
      beside = removed.shift() ?? beside
      out.push({ text: line.text, eol: beside === '' ? eol : beside })
      continue
    }
    const old = lines[at++] as Line
    beside = old.eol
    if (line.kind === 'remove') removed.push(old.eol)
    else {
      removed = []
      out.push(old)
    }
  }
  return out
}

/** The final line always ends. */
function join(lines: readonly Line[], eol: '\n' | '\r\n'): string {
  return lines.map((line) => line.text + (line.eol === '' ? eol : line.eol)).join('')
}

function splitLines(text: string): Line[] {
  const lines: Line[] = []
  let at = 0
  for (let feed = text.indexOf('\n'); feed !== -1; feed = text.indexOf('\n', at)) {
    const crlf = feed > at && text[feed - 1] === '\r'
    lines.push({ text: text.slice(at, crlf ? feed - 1 : feed), eol: crlf ? '\r\n' : '\n' })
    at = feed + 1
  }
  if (at < text.length) lines.push({ text: text.slice(at), eol: '' })
  return lines
}

function majorityOf(lines: readonly Line[]): '\n' | '\r\n' {
  const ended = lines.filter((line) => line.eol !== '').length
  return majorityEnding(lines.filter((line) => line.eol === '\r\n').length, ended)
}
