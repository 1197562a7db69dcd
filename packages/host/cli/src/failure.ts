import { errorText, isDshError } from '@dsh/core'

/** Prints what ended the program, one line per fault; a stack only for those who ask with `DSH_DEBUG`. */
export function reportFailure(error: unknown): number {
  const text = isDshError(error) ? error.message : errorText(error)
  for (const line of text.split('\n')) process.stderr.write(`dsh: ${line}\n`)
  if (isDshError(error) && error.hint !== undefined) process.stderr.write(`dsh: ${error.hint}\n`)
  if (process.env['DSH_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return 1
}
