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
  const facts = { sessionId: undefined, durationMs: 1, summary: undefined, costUsd: 0 }
  return { outcome, document: resultDocument(outcome, facts) }
}
