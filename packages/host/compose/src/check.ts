import type { Composition } from './apply.ts'
import { ComposeError, type Problem } from './errors.ts'
import { type RowNode, type Say, walkRows } from './row.ts'

/** What only shows once the layers are together. Boot and dump ask the same question. */
export function checkComposition(composition: Composition): void {
  const problems: Problem[] = [...composition.problems]
  const first = new Map<string, RowNode>()
  for (const row of walkRows(composition.rows)) {
    const other = first.get(row.id)
    if (other === undefined) first.set(row.id, row)
    else {
      const at = place(composition, row.origin)
      const earlier = place(composition, other.origin)
      problems.push({
        ...at,
        message: `duplicate row id "${row.id}", first used in ${earlier.file}:${earlier.line ?? 1}`,
      })
    }
  }
  if (problems.length > 0) throw new ComposeError(problems)
}

function place(composition: Composition, say: Say): { file: string; line?: number } {
  const file = composition.layers[say.layer]?.file ?? '(unknown)'
  return say.line === undefined ? { file } : { file, line: say.line }
}
