import type { ApprovalAnswer, ApprovalRequest } from '@dsh/user-approval'
import { type Component, type Focusable, Input, matchesKey } from '@mariozechner/pi-tui'
import { fit, wrap } from '../cards/fit.ts'
import { sanitize } from '../sanitize.ts'
import type { Theme } from '../theme.ts'

/** The whole text of an approval question: what would run, in which mode, and why. */
export function approvalLines(request: ApprovalRequest, width: number, theme: Theme): string[] {
  const subject = request.subject ?? {}
  const lines = [
    theme.warn(
      theme.bold(`Allow ${request.toolName} once${subject.mode === undefined ? '' : ` with ${subject.mode}`}?`),
    ),
  ]
  const exact = subject.command ?? subject.path
  if (exact !== undefined) for (const line of wrap(sanitize(exact), width - 4)) lines.push(`  ${theme.bold(line)}`)
  const why = subject.justification ?? request.reason
  if (why !== undefined)
    for (const line of wrap(`reason given: ${sanitize(why)}`, width - 4)) lines.push(`  ${theme.dim(line)}`)
  return lines
}

/** Asks; Enter alone decides nothing. `y` once, `n` reject, `r` reject with a reason for the model. */
export class ApprovalPrompt implements Component, Focusable {
  focused = false
  private readonly request: ApprovalRequest
  private readonly theme: Theme
  private readonly answer: (answer: ApprovalAnswer) => void
  private reason: Input | undefined
  constructor(request: ApprovalRequest, theme: Theme, answer: (answer: ApprovalAnswer) => void) {
    this.request = request
    this.theme = theme
    this.answer = answer
  }

  invalidate(): void {
    this.reason?.invalidate()
  }

  handleInput(data: string): void {
    if (this.reason !== undefined) {
      this.reason.handleInput(data)
      return
    }
    if (data === 'y' || data === 'Y') this.answer('allowed-once')
    else if (data === 'n' || data === 'N') this.answer('rejected')
    else if (data === 'r' || data === 'R') this.askReason()
    else if (matchesKey(data, 'escape')) this.answer('rejected')
  }

  private askReason(): void {
    const input = new Input()
    input.focused = true
    input.onSubmit = (text) => this.answer(text.trim() === '' ? 'rejected' : { outcome: 'rejected', note: text.trim() })
    input.onEscape = () => {
      this.reason = undefined
    }
    this.reason = input
  }

  render(width: number): string[] {
    const rule = this.theme.warn('─'.repeat(width))
    const lines = approvalLines(this.request, width, this.theme)
    if (this.reason === undefined) lines.push(this.theme.dim('  y allow once · n reject · r reject and say why'))
    else
      lines.push(
        this.theme.dim('  why not? (the model reads it; Enter sends, Esc goes back)'),
        ...this.reason.render(width),
      )
    return [rule, ...fit(lines, width), rule]
  }
}
