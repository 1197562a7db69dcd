import { sliceCodePoints } from '@dsh/core'

export interface Repeated {
  readonly tool: string
  readonly count: number
  readonly args: unknown
}

/** The first reminder is a hint; the later ones show the call, because the hint did not help. */
export function reminderText({ tool, count, args }: Repeated, isFirst: boolean, previewChars: number): string {
  if (isFirst)
    return 'You are repeating an identical tool call. Its result will not change by itself: re-read the last result, then change the arguments, use another tool, or explain what blocks you.'
  return [
    'Repeated tool call detected:',
    `- tool: ${tool}`,
    `- consecutive_calls: ${count}`,
    `- arguments: ${preview(args, previewChars)}`,
    'Stop making this call. Re-read the results you already have and choose a different next step; if nothing else is possible, tell the user what is blocking you.',
  ].join('\n')
}

function preview(args: unknown, maxChars: number): string {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  const shown = sliceCodePoints(text, maxChars)
  return shown.length === text.length ? text : `${shown}… (+${text.length - shown.length} more chars)`
}
