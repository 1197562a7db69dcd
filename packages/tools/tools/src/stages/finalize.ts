import type { Call } from '../call.ts'
import { failedResult } from '../results.ts'
import type { ToolResult } from '../types.ts'

/** The tool's last word on its own content, on every outcome. */
export function finalize({ definition, exec }: Call, result: ToolResult): ToolResult {
  if (definition?.finalizeContent === undefined) return result
  try {
    const content = definition.finalizeContent(exec, result)
    return content === undefined ? result : { ...result, content }
  } catch (error) {
    return failedResult(error)
  }
}
