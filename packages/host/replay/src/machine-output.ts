import type { JsonObject } from '@dsh/core'
import type { NormaliseRule } from './normalise.ts'
import type { Transcript } from './transcript.ts'

/**
 * What common commands print of the clock and the machine, as rules for `input.json`. A new fixture gets those that its
 * own results have a match for; there they are seen, and may be taken out. Each keeps what the session is about: of a
 * listing the kind, the owner's right to execute, a file's size and the name.
 */
const size = String.raw`[\d.,]+[KMGTP]?`
const listed = String.raw`[.+@]? +\d+ \S+ +\S+ +`
const day = String.raw`(?:\S+ +\S+ +(?:\d\d:\d\d|\d{4})|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d\.\d+ [+-]\d{4})?)`
const clock = String.raw`\d\d:\d\d:\d\d`
const long: readonly NormaliseRule[] = [
  { pattern: `^[dl][-rwxsStT]{9}${listed}${size} ${day} `, replace: '{{directory or link}} ' },
  { pattern: `^-..([xsS-])[-rwxsStT]{6}${listed}(${size}) ${day} `, replace: '-{{rw}}$1 {{owner}} $2 {{day}} ' },
  { pattern: `^total ${size}$`, replace: 'total {{blocks}}' },
]
const dates: readonly NormaliseRule[] = [
  {
    pattern: String.raw`\b\d{4}-\d\d-\d\d[T ]${clock}(?:[.,]\d+)?(?: ?(?:[+-]\d\d:?\d\d|Z|UTC))?`,
    replace: '{{time}}',
  },
  { pattern: String.raw`\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${clock} (?:[AP]M )?\S+ \d{4}\b`, replace: '{{time}}' },
  { pattern: String.raw`\b[A-Z][a-z]{2} [ \d]\d [A-Z][a-z]{2} \d{4} ${clock}(?: [AP]M)? \S+`, replace: '{{time}}' },
]
const inodes: readonly NormaliseRule[] = [
  { pattern: String.raw`Device: \S+\s+Inode: \d+\s+Links: \d+`, replace: '{{inode}}' },
  { pattern: String.raw`^Access: \(\d+/.*$`, replace: '{{access}}' },
]
const durations: readonly NormaliseRule[] = [
  { pattern: String.raw`\bduration_ms [\d.]+`, replace: 'duration_ms {{duration}}' },
  { pattern: String.raw`\b(in|took|[Tt]ime:?|Duration) +[\d.]+ ?(?:ms|s|seconds?)\b`, replace: '$1 {{duration}}' },
  { pattern: String.raw`\([\d.]+ ?m?s\)`, replace: '({{duration}})' },
  { pattern: String.raw`\t[\d.]+s$`, replace: '\t{{duration}}' },
  { pattern: String.raw`^(real|user|sys)(\s+)(?:\d+m)?[\d.,]+s?$`, replace: '$1 {{duration}}' },
]

/** The rules without which these logs could not come out the same twice. */
export function machineRules(transcripts: readonly Transcript[]): readonly NormaliseRule[] {
  const results = transcripts.flatMap(resultTexts)
  const matches = ({ pattern }: NormaliseRule) => results.some((text) => new RegExp(pattern, 'm').test(text))
  const listing = long.slice(0, 2).some(matches) ? long : []
  return [...listing, ...[...dates, ...inodes, ...durations].filter(matches)]
}

function resultTexts({ events }: Transcript): string[] {
  return events
    .filter(({ type }) => type === 'tool/result')
    .flatMap(({ data }) => ((data['message'] as JsonObject)['content'] ?? []) as JsonObject[])
    .flatMap((block) => (block['content'] ?? []) as JsonObject[])
    .flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : []))
}
