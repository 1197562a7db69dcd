import { searchError, searchErrors } from './errors.ts'

export interface GrepMatch {
  readonly path: string
  readonly lineNumber: number
  readonly line: string
}

const undecodable = '(line is not valid UTF-8)'
const matchPrefix = '{"type":"match"'

/** The match records of `rg --json`. A stopped run may end in the middle of one. */
export function readMatches(stdout: string, unfinished: boolean): GrepMatch[] {
  const matches: GrepMatch[] = []
  let at = 0
  while (at < stdout.length) {
    const end = stdout.indexOf('\n', at)
    if (end === -1 && unfinished) break
    const line = stdout.slice(at, end === -1 ? stdout.length : end)
    at = end === -1 ? stdout.length : end + 1
    // Records of other types say nothing that is shown; those of a future shape are parsed to find out.
    if (line === '' || isOther(line)) continue
    const match = readRecord(line)
    if (match !== undefined) matches.push(match)
  }
  return matches
}

function isOther(line: string): boolean {
  return !line.startsWith(matchPrefix) && /^\{"type":"(begin|end|context|summary)"/.test(line)
}

function readRecord(line: string): GrepMatch | undefined {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    throw malformed('a line is not JSON')
  }
  if (!isObject(record)) throw malformed('a record is not an object')
  if (record['type'] !== 'match') return undefined
  const { data } = record
  if (!isObject(data)) throw malformed('a match record has no data')
  const path = textOf(data['path'])
  if (path === undefined) throw malformed('a match record has no path text')
  const lineNumber = data['line_number']
  if (typeof lineNumber !== 'number') throw malformed('a match record has no line number')
  if (!isObject(data['lines'])) throw malformed('a match record has no line content')
  return { path, lineNumber, line: lineOf(data['lines']) }
}

function lineOf(lines: Record<string, unknown>): string {
  if (typeof lines['text'] === 'string') return lines['text'].replace(/\r?\n$/, '')
  if (typeof lines['bytes'] === 'string') return undecodable
  throw malformed('a match record has neither line text nor bytes')
}

/** A name that is not UTF-8 comes as bytes; it is shown as well as it can be. */
function textOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  if (typeof value['text'] === 'string') return value['text']
  return typeof value['bytes'] === 'string' ? Buffer.from(value['bytes'], 'base64').toString('utf8') : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function malformed(detail: string): Error {
  return searchError(searchErrors.failed, `grep received malformed ripgrep --json output (${detail})`)
}
