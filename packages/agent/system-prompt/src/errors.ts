import { DshError } from '@dsh/core'

export const promptErrors = {
  /** Two sections claim to be the whole prompt. */
  twoComplete: 'PROMPT_TWO_COMPLETE_SECTIONS',
  duplicateSection: 'PROMPT_DUPLICATE_SECTION',
  malformedVariable: 'PROMPT_MALFORMED_VARIABLE',
  unknownVariable: 'PROMPT_UNKNOWN_VARIABLE',
  /** A known variable that has no value for this agent. */
  missingValue: 'PROMPT_MISSING_VALUE',
} as const

export function promptError(code: (typeof promptErrors)[keyof typeof promptErrors], message: string): DshError {
  return new DshError(code, message, { name: 'SystemPromptError' })
}
