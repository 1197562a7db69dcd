import { DshError } from '@dsh/core'
import type { SandboxPolicy } from '@dsh/sandbox'
import type { ToolExecution } from '@dsh/tools'
import { type FileToolDeps, sessionCwd } from '../deps.ts'
import { commitPatch } from './execute.ts'
import { parsePatch } from './parse.ts'
import { planPatch } from './plan.ts'
import { type Problem, preflight } from './preflight.ts'
import { indented, operationName } from './report-lines.ts'
import type { CommitReport } from './types.ts'

export type { CommitReport, OperationReport } from './types.ts'

/** Parse, plan, check everything, then apply in order. Throws before the first change, reports after it. */
export async function executePatch(
  input: string,
  policy: SandboxPolicy | undefined,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<CommitReport> {
  const parsed = parsePatch(input)
  const operations = await planPatch(parsed, sessionCwd(exec) ?? process.cwd(), deps.fs, exec.signal)
  const problems = await preflight(operations, exec, deps)
  if (problems.length > 0) throw rejected(problems)
  return await commitPatch(operations, { exec, deps, policy })
}

function rejected(problems: readonly Problem[]): Error {
  const lines = problems.map(({ operation, error }) => {
    const { source, destination } = operation
    const name = operationName({ ...operation, path: source.label, destination: destination?.label })
    return `- operation ${operation.index} (${name}, patch line ${operation.line}): ${indented(error.message)}`
  })
  const first = (problems[0] as Problem).error
  return new DshError(
    first.code,
    [`Patch rejected before any change (${problems.length} problems):`, ...lines].join('\n'),
    { name: first.name, cause: first },
  )
}
