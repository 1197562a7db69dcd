import { deepFreeze, isDshError } from '@dsh/core'
import type { ContentBlock } from '@dsh/llm'
import type { ToolResult } from './types.ts'

/** What a failure looks like to the model: one line, `Error: <message>`, and the hint below it where there is one. */
export function failedResult(error: unknown): ToolResult {
  const coded = isDshError(error) ? { error: { name: error.name, code: error.code } } : {}
  return { content: [text(`Error: ${messageOf(error)}`)], isError: true, ...coded }
}

export function text(value: string): ContentBlock {
  return { type: 'text', text: value }
}

/** A result that nobody can change any more. Copies nothing: its parts are this process' own. */
export function freezeResult(result: ToolResult): ToolResult {
  return deepFreeze(result)
}

function messageOf(error: unknown): string {
  if (!isDshError(error)) return error instanceof Error ? error.message : String(error)
  return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`
}
