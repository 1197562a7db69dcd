import { type FileDiff, fileDiffs } from './diffs.ts'
import type { CommitReport } from './patch/index.ts'

/** Known changes for a surface. A creation stores no diff, a removal one only where its text was kept. */
export function patchMeta(report: CommitReport): { readonly diffs: readonly FileDiff[]; readonly stopped: boolean } {
  const changes = report.operations.flatMap((operation) => operation.changes)
  return {
    diffs: changes.flatMap(({ path, before, after }) => {
      if (after !== null) return fileDiffs(path, before, after)
      return before === null ? [] : [{ path, oldText: before, newText: '' }]
    }),
    stopped: report.operations.some((operation) => operation.status !== 'completed'),
  }
}
