import { type Component, CURSOR_MARKER, type Focusable, matchesKey, wrapTextWithAnsi } from '@mariozechner/pi-tui'
import { fit } from '../cards/fit.ts'
import type { Theme } from '../theme.ts'

export interface SecretPromptOptions {
  readonly title: string
  readonly theme: Theme
  /** Takes the secret, or says in one line why not. */
  readonly accept: (value: string) => Promise<string | undefined>
  /** True: accepted; false: the person left. */
  readonly done: (accepted: boolean) => void
  readonly changed: () => void
}

/**
 * Takes one line without ever showing it. It stays open until the line is accepted or the person leaves: whoever types
 * a refused secret again must not find themselves in the editor, where it would be seen, sent and kept.
 */
export class SecretPrompt implements Component, Focusable {
  focused = false
  private value = ''
  private fault: string | undefined
  private accepting = false
  private readonly options: SecretPromptOptions
  constructor(options: SecretPromptOptions) {
    this.options = options
  }
  invalidate(): void {}
  handleInput(data: string): void {
    if (matchesKey(data, 'enter')) void this.offer()
    else if (matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) this.options.done(false)
    else if (matchesKey(data, 'backspace')) this.value = this.value.slice(0, -1)
    else if (matchesKey(data, 'ctrl+u')) this.value = ''
    else {
      // Blanks stay, so that a key pasted in two lines is refused instead of joined to one that nobody has.
      const pasted = data.replace(/\x1b\[20[01]~/g, '')
      if (!pasted.startsWith('\x1b')) this.value += pasted.replace(/[\0-\x1f\x7f]/g, ' ')
    }
  }
  private async offer(): Promise<void> {
    const value = this.value.trim()
    if (this.accepting) return
    this.accepting = true
    this.value = ''
    this.fault = value === '' ? 'nothing was typed' : await this.options.accept(value)
    this.accepting = false
    if (this.fault === undefined) this.options.done(true)
    else this.options.changed()
  }
  render(width: number): string[] {
    const { theme, title } = this.options
    const dots = '•'.repeat(Math.min(this.value.length, Math.max(1, width - 4)))
    return [
      ...fit([theme.dim('─'.repeat(width)), theme.bold(title)], width),
      ...(this.fault === undefined ? [] : wrapTextWithAnsi(theme.bad(`${this.fault}; paste or type it again`), width)),
      `> ${dots}${this.focused ? CURSOR_MARKER : ''}`,
      ...fit([theme.dim('Enter stores it · Esc leaves'), theme.dim('─'.repeat(width))], width),
    ]
  }
}
