import { rereadRemedy } from './error.ts'
import type { CommitReport, OperationReport } from './patch/index.ts'
import { indented, operationName } from './patch/report-lines.ts'

/** What the model reads about a patch that was applied, wholly or in part. */
export function renderCommit(report: CommitReport): string {
  const { operations } = report
  const done = operations.filter((operation) => operation.status === 'completed')
  if (done.length === operations.length)
    return operations.length === 0
      ? 'Success. No operations in patch.'
      : ['Success. Updated the following files:', ...changedFiles(done)].join('\n')
  const failed = operations.filter((operation) => operation.status === 'failed')
  const unknown = operations.filter((operation) => operation.status === 'unknown')
  const skipped = operations.filter((operation) => operation.status === 'skipped')
  return [
    `Patch stopped after ${done.length} of ${operations.length} operations.`,
    ...section('Completed:', changedFiles(done)),
    ...section('Failed:', failed.map(entry)),
    ...section(
      'Outcome unknown:',
      unknown.map((operation) => `${entry(operation)} — ${rereadRemedy}`),
    ),
    ...section(
      'Not executed:',
      skipped.map((operation) => `- operation ${operation.index} (${operationName(operation)})`),
    ),
  ].join('\n')
}

/** Added, then modified (a move under its destination), then deleted; each in patch order, once. */
function changedFiles(operations: readonly OperationReport[]): readonly string[] {
  const letters = { add: 'A', update: 'M', move: 'M', delete: 'D' } as const
  const lines = operations.map(({ kind, path, destination }) => `${letters[kind]} ${destination ?? path}`)
  return ['A', 'M', 'D'].flatMap((letter) => [...new Set(lines.filter((line) => line.startsWith(`${letter} `)))])
}

function entry(operation: OperationReport): string {
  const { index, line, diagnostic = '' } = operation
  return `- operation ${index} (${operationName(operation)}, patch line ${line}): ${indented(diagnostic)}`
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}
