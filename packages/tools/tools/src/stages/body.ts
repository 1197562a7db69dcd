import { dropNulls } from '../arguments.ts'
import type { Call } from '../call.ts'
import { aborted, abortedBeforeDispatch, toolError, toolErrors } from '../errors.ts'
import { renderOutput } from '../output.ts'
import { failedResult } from '../results.ts'
import type { ToolResult } from '../types.ts'
import { violations } from '../validate.ts'

/** Checks the arguments, runs the tool, checks and renders what it gave. Never rejects. */
export async function runBody(call: Call): Promise<ToolResult> {
  const { definition, exec, callerSignal } = call
  try {
    if (definition === undefined) throw toolError(toolErrors.unknownTool, `unknown tool "${exec.name}"`)
    const args = dropNulls(definition, exec.arguments)
    const problems = violations(definition.parameters, args, 'arguments')
    if (problems.length > 0) throw toolError(toolErrors.invalidArgs, `invalid arguments: ${problems.join('; ')}`)
    if (callerSignal.aborted) throw abortedBeforeDispatch()
    const value: unknown = await definition.execute(args, exec)
    if (callerSignal.aborted) throw aborted()
    const output = renderOutput(definition, args, value, exec.parent === undefined)
    return { ...output, isError: false, ...(call.concludes ? { concludesTurn: true } : {}) }
  } catch (error) {
    return failedResult(error)
  }
}
