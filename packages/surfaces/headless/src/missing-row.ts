import type { LlmService } from '@dsh/llm'
import type { Outcome } from './outcome.ts'

/** Rows that work by registering themselves: no boot can say that they are missed, only what fails without them. */
const registrants: Readonly<Record<string, RegExp>> = {
  NO_ADAPTER: /\/(dsh-)?llm-(?!retry)/,
  AGENT_NO_FACTORY: /\/(dsh-)?agent-loop$/,
}

/** Failures that a mistyped model has too. */
const modelCodes = ['INVALID_REQUEST', 'HTTP_404']

/** The outcome, with the word that its model is none of those that its provider lists. */
export async function namingUnlistedModel(
  outcome: Outcome,
  { provider, model }: { readonly provider: string; readonly model: string },
  llm: Pick<LlmService, 'listModels'>,
): Promise<Outcome> {
  const { error } = outcome
  if (error === undefined || !modelCodes.includes(error.code)) return outcome
  const listed = (await llm.listModels().catch(() => [])).filter((known) => known.provider === provider)
  if (listed.length === 0 || listed.some(({ id }) => id === model)) return outcome
  const names = listed.map(({ id }) => id).join(', ')
  const message = `${error.message} — "${model}" is not in the list of provider "${provider}" (${names})`
  return { ...outcome, error: { ...error, message } }
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
