import { errorText, snapshotJson } from '@dsh/core'
import type { ContentBlock } from '@dsh/llm'
import { toolError, toolErrors } from './errors.ts'
import type { ToolDefinition } from './types.ts'
import { violations } from './validate.ts'

export interface RenderedOutput {
  readonly value: unknown
  readonly content: readonly ContentBlock[]
  readonly meta?: unknown
}

/** The value of a tool, held to its own schema, and the blocks the model reads. */
export function renderOutput(
  { name, output }: Pick<ToolDefinition, 'name' | 'output'>,
  args: unknown,
  given: unknown,
  withMeta: boolean,
): RenderedOutput {
  const invalid = (problem: string) =>
    toolError(toolErrors.invalidOutput, `tool "${name}" returned invalid output: ${problem}`)

  const value = lossless(given, () => invalid('value is not lossless JSON'))
  const problems = violations(output.schema, value, 'value')
  if (problems.length > 0) throw invalid(problems.join('; '))

  const project = <T>(projector: string, run: () => T): T => {
    let projected: T
    try {
      projected = run()
    } catch (error) {
      throw invalid(`${projector} failed: ${errorText(error)}`)
    }
    return lossless(projected, () => invalid(`${projector} returned non-lossless JSON`))
  }
  const content = project('output.render', () => output.render(args, value))
  const describe = withMeta ? output.presentationMeta : undefined
  const meta = describe && project('output.presentationMeta', () => describe(args, value) ?? null)
  return { value, content, ...(meta === undefined || meta === null ? {} : { meta }) }
}

function lossless<T>(value: T, problem: () => Error): T {
  try {
    return snapshotJson(value)
  } catch {
    throw problem()
  }
}
