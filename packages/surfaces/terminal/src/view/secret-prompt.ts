import { type Component, CURSOR_MARKER, type Focusable, matchesKey } from '@mariozechner/pi-tui'
import { fit } from '../cards/fit.ts'
import type { Theme } from '../theme.ts'

/** Takes one line without ever showing it. */
export class SecretPrompt implements Component, Focusable {
  focused = false
  private value = ''
  private readonly title: string
  private readonly theme: Theme
  private readonly done: (value: string | undefined) => void
  constructor(title: string, theme: Theme, done: (value: string | undefined) => void) {
    this.title = title
    this.theme = theme
    this.done = done
  }
  invalidate(): void {}
  handleInput(data: string): void {
    if (matchesKey(data, 'enter')) this.done(this.value.trim() === '' ? undefined : this.value.trim())
    else if (matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) this.done(undefined)
    else if (matchesKey(data, 'backspace')) this.value = this.value.slice(0, -1)
    else if (matchesKey(data, 'ctrl+u')) this.value = ''
    else {
      // Blanks stay, so that a key pasted in two lines is refused instead of joined to one that nobody has.
      const pasted = data.replace(/\x1b\[20[01]~/g, '')
      if (!pasted.startsWith('\x1b')) this.value += pasted.replace(/[\0-\x1f\x7f]/g, ' ')
    }
  }
  render(width: number): string[] {
    const dots = '•'.repeat(Math.min(this.value.length, Math.max(1, width - 4)))
    return [
      ...fit([this.theme.dim('─'.repeat(width)), this.theme.bold(this.title)], width),
      `> ${dots}${this.focused ? CURSOR_MARKER : ''}`,
      ...fit([this.theme.dim('Enter stores it · Esc leaves'), this.theme.dim('─'.repeat(width))], width),
    ]
  }
}
