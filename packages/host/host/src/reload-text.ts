import type { ReloadOutcome } from './types.ts'

/** What a surface says about a change of the user's files, line by line; nothing where nothing happened. */
export function reloadText(outcome: ReloadOutcome): string[] {
  if (!outcome.ok) {
    return outcome.reason.split('\n').map((line) => `change rejected, the last good composition stays: ${line}`)
  }
  const changed = outcome.changed.length === 0 ? [] : [`composition changed: ${outcome.changed.join(', ')}`]
  return [...changed, ...outcome.notes]
}
