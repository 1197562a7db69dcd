import type { Outcome } from './outcome.ts'

/** Rows that work by registering themselves: no boot can say that they are missed, only what fails without them. */
const registrants: Readonly<Record<string, RegExp>> = {
  NO_ADAPTER: /\/(dsh-)?llm-(?!retry)/,
  AGENT_NO_FACTORY: /\/(dsh-)?agent-loop$/,
}

/** The outcome, with the disabled row that it may be for want of. */
export function namingMissingRow(
  outcome: Outcome,
  disabled: readonly { readonly id: string; readonly name: string }[],
): Outcome {
  const { error } = outcome
  const wanted = error && registrants[error.code]
  const rows = wanted === undefined ? [] : disabled.filter(({ name }) => wanted.test(name))
  if (error === undefined || rows.length === 0) return outcome
  const off = rows.map(({ id, name }) => `row ${id} (${name})`).join(', ')
  return {
    ...outcome,
    error: { ...error, message: `${error.message} — ${off} ${rows.length === 1 ? 'is' : 'are'} disabled` },
  }
}
