import { sliceCodePoints } from '@dsh/core'
import { plainText } from './plain-text.ts'
import type { CallResult } from './shell-session.ts'
import { clippedEnd, resetLine, waitingLine, words } from './words.ts'

export interface RenderOptions {
  readonly maxOutputChars: number
  readonly timeoutMs: number
  /** Said before the output: why this is not the shell of the last call. */
  readonly restarted?: string
}

/** What the model reads of one call: the head of its output, and how it ended on the last line. */
export function renderCall(result: CallResult, options: RenderOptions): string {
  const lines: string[] = []
  if (options.restarted !== undefined) lines.push(words.restarted(options.restarted))
  if (result.end.kind === 'timeout') lines.push(words.timedOut(options.timeoutMs))
  const shown = clip(result, options.maxOutputChars)
  const ending = endingOf(result)
  if (shown !== '' || (lines.length === 0 && ending.length === 0)) lines.push(shown || '(no output)')
  return joinLines([...lines, ...ending])
}

function clip({ text, clipped }: CallResult, maxChars: number): string {
  const plain = plainText(text)
  const head = sliceCodePoints(plain, maxChars)
  return clipped || head.length < plain.length ? `${head}${clippedEnd}` : plain
}

function endingOf({ end }: CallResult): string[] {
  switch (end.kind) {
    case 'done':
      return end.exitCode === 0 ? [] : [`[exit code: ${end.exitCode}]`]
    case 'asks':
      return [waitingLine]
    case 'exited':
      return [words.exited(end.exitCode, end.signal), resetLine]
    case 'timeout':
    case 'aborted':
      return [resetLine]
  }
}

/** A part that ends its own line needs no other. */
function joinLines(parts: readonly string[]): string {
  return parts.reduce((text, part) => (text === '' || text.endsWith('\n') ? text + part : `${text}\n${part}`), '')
}
