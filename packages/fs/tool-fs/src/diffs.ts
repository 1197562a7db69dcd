import { structuredPatch } from 'diff'

/** One hunk for a surface; `oldText` null = only new lines. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
  /** The line that each side of the hunk starts at, from 1. */
  readonly oldStart?: number
  readonly newStart?: number
}

const contextLines = 3
/** Texts that differ in more places than this are shown from the arguments instead. */
const maxEdits = 2000
const maxChars = 2_000_000

/** Hunks of a change between LF texts; empty where there is none, or too much to compare. */
export function fileDiffs(path: string, before: string | null, after: string): readonly FileDiff[] {
  if (before === null || before === after || before.length + after.length > maxChars) return []
  const patch = structuredPatch(path, path, before, after, '', '', { context: contextLines, maxEditLength: maxEdits })
  // The typings say otherwise, but past `maxEditLength` there is none.
  const hunks = (patch as typeof patch | undefined)?.hunks ?? []
  return hunks.map((hunk) => {
    const lines = hunk.lines.filter((line) => !line.startsWith('\\'))
    const old = lines.filter((line) => !line.startsWith('+'))
    return {
      path,
      oldText: old.length === 0 ? null : body(old),
      newText: body(lines.filter((line) => !line.startsWith('-'))),
      oldStart: hunk.oldStart,
      newStart: hunk.newStart,
    }
  })
}

function body(lines: readonly string[]): string {
  return lines.map((line) => line.slice(1)).join('\n')
}
