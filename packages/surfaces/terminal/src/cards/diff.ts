import { diffLines } from 'diff'
import { sanitize } from '../sanitize.ts'
import type { Theme } from '../theme.ts'
import { head } from './fit.ts'

/** One hunk as the file tools log it: LF texts, with the line each side starts at where known. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
  readonly oldStart?: number
  readonly newStart?: number
}

export function isFileDiffs(value: unknown): value is readonly FileDiff[] {
  return (
    Array.isArray(value) &&
    value.every(
      (entry) => typeof entry === 'object' && entry !== null && typeof (entry as FileDiff).newText === 'string',
    )
  )
}

/** Lines of a diff with numbers: `  12 - old`, `  12 + new`, `  13   same`. */
export function diffCard(diffs: readonly FileDiff[], theme: Theme, max: number): string[] {
  const lines = diffs.flatMap((diff, at) => [...(at > 0 ? [theme.dim('   ⋮')] : []), ...hunk(diff, theme)])
  return head(lines, max, (count) => theme.dim(`     … ${count} more lines`))
}

export function countChanges(diffs: readonly FileDiff[]): { added: number; removed: number } {
  let added = 0
  let removed = 0
  for (const diff of diffs) {
    for (const part of parts(diff)) {
      if (part.added) added += part.count ?? 0
      else if (part.removed) removed += part.count ?? 0
    }
  }
  return { added, removed }
}

function parts(diff: FileDiff) {
  return diffLines(withNewline(diff.oldText ?? ''), withNewline(diff.newText))
}

function hunk(diff: FileDiff, theme: Theme): string[] {
  let before = diff.oldStart ?? 1
  let after = diff.newStart ?? diff.oldStart ?? 1
  const lines: string[] = []
  for (const part of parts(diff)) {
    for (const text of part.value.replace(/\n$/, '').split('\n')) {
      const shown = sanitize(text)
      if (part.added) lines.push(theme.added(`${number(after++)} + ${shown}`))
      else if (part.removed) lines.push(theme.removed(`${number(before++)} - ${shown}`))
      else {
        lines.push(theme.dim(`${number(after)}   ${shown}`))
        before++
        after++
      }
    }
  }
  return lines
}

function number(line: number): string {
  return String(line).padStart(4)
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
