import { exitCodes, type Outcome } from './outcome.ts'
import { type ResultDocument, resultDocument } from './result-document.ts'

/** The outcome of a run that never began; `message` is the whole line for people. */
export function usageOutcome(message: string): { readonly outcome: Outcome; readonly document: ResultDocument } {
  const outcome: Outcome = {
    exitCode: exitCodes.usage,
    subtype: 'error_usage',
    answer: undefined,
    error: { code: 'USAGE', message: message.replace(/^error: /, '') },
  }
  return { outcome, document: emptyDocument(outcome, 1) }
}

/** The document of a run whose composition did not start. */
export function failedStartDocument(
  error: { readonly code: string; readonly message: string },
  durationMs: number,
): ResultDocument {
  const { failed: exitCode } = exitCodes
  return emptyDocument({ exitCode, subtype: 'error_during_execution', answer: undefined, error }, durationMs)
}

function emptyDocument(outcome: Outcome, durationMs: number): ResultDocument {
  return resultDocument(outcome, { sessionId: undefined, durationMs, summary: undefined, costUsd: 0 })
}
