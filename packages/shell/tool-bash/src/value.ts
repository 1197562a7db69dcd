import type { ShellOutcome } from '@dsh/shell'
import type { JsonSchema } from '@dsh/tools'

/** What a call gives: plain JSON, rendered for the model by `render.ts`. */
export type BashValue =
  | ({ readonly kind: 'foreground' } & ShellOutcome)
  | { readonly kind: 'background'; readonly jobId: string }

export const bashValueSchema: JsonSchema = {
  type: 'object',
  properties: { kind: { type: 'string', enum: ['foreground', 'background'] } },
  required: ['kind'],
}

/** The facts for surfaces and the log: everything but the text, which the model's view already holds. */
export function bashMeta(value: BashValue): unknown {
  if (value.kind === 'background') return value
  const { stdout, stderr, ...facts } = value
  const { text: _out, ...outFacts } = stdout
  const { text: _err, ...errFacts } = stderr
  return { ...facts, stdout: outFacts, stderr: errFacts }
}
