import { diffLines, structuredPatch } from 'diff'

/** A unified diff, or '' when both sides are equal. */
export function unifiedDiff(
  expected: string,
  actual: string,
  labels: { from: string; to: string },
  context = 3,
): string {
  if (expected === actual) return ''
  const patch = structuredPatch(labels.from, labels.to, expected, actual, '', '', { context })
  const hunks = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ])
  return [`--- ${labels.from}`, `+++ ${labels.to}`, ...hunks].join('\n')
}

/** How many lines differ, both ways. */
export function changedLines(expected: string, actual: string): number {
  return diffLines(expected, actual).reduce(
    (sum, part) => sum + (part.added || part.removed ? (part.count ?? 0) : 0),
    0,
  )
}
