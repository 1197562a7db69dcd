import { DshError } from '@dsh/core'

export const toolErrors = {
  unknownTool: 'UNKNOWN_TOOL',
  invalidArgs: 'INVALID_ARGS',
  invalidOutput: 'INVALID_TOOL_OUTPUT',
  unsupportedSchema: 'UNSUPPORTED_SCHEMA',
  /** The turn was cancelled while the body ran. */
  aborted: 'ABORTED',
  /** The turn was cancelled before the body started. */
  abortedBeforeDispatch: 'ABORTED_BEFORE_DISPATCH',
  timeout: 'TOOL_TIMEOUT',
  duplicateName: 'DUPLICATE_TOOL',
  invalidRestriction: 'INVALID_RESTRICTION',
} as const

const names: Record<(typeof toolErrors)[keyof typeof toolErrors], string> = {
  UNKNOWN_TOOL: 'ToolNotFoundError',
  INVALID_ARGS: 'ToolArgsError',
  INVALID_TOOL_OUTPUT: 'ToolOutputError',
  UNSUPPORTED_SCHEMA: 'JsonSchemaError',
  ABORTED: 'AbortError',
  ABORTED_BEFORE_DISPATCH: 'AbortError',
  TOOL_TIMEOUT: 'ToolTimeoutError',
  DUPLICATE_TOOL: 'ToolRegistrationError',
  INVALID_RESTRICTION: 'ToolRegistrationError',
}

export function toolError(code: (typeof toolErrors)[keyof typeof toolErrors], message: string): DshError {
  return new DshError(code, message, { name: names[code] })
}

export function aborted(): DshError {
  return toolError(toolErrors.aborted, 'tool call aborted')
}

export function abortedBeforeDispatch(): DshError {
  return toolError(toolErrors.abortedBeforeDispatch, 'tool call aborted before dispatch')
}
