import { type Component, Container, type TUI } from '@mariozechner/pi-tui'

interface Question {
  readonly component: Component
  readonly cancel: () => void
}

/** The place below the conversation: the editor, or the first of the open questions in its stead. */
export class Slot {
  readonly container = new Container()
  private readonly questions: Question[] = []
  private readonly screen: TUI
  private readonly editor: Component
  private readonly changed: () => void
  constructor(screen: TUI, editor: Component, changed: () => void) {
    this.screen = screen
    this.editor = editor
    this.changed = changed
  }

  get open(): boolean {
    return this.questions.length > 0
  }

  show(): void {
    const component = this.questions[0]?.component ?? this.editor
    this.container.clear()
    this.container.addChild(component)
    this.screen.setFocus(component)
    this.changed()
  }

  /** Resolves with the answer, or with `cancelled` when the person or the signal ends the question. */
  ask<T>(make: (answer: (value: T) => void) => Component, cancelled: T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve) => {
      const answer = (value: T) => {
        const at = this.questions.indexOf(question)
        if (at < 0) return
        this.questions.splice(at, 1)
        signal?.removeEventListener('abort', cancel)
        this.show()
        resolve(value)
      }
      const cancel = () => answer(cancelled)
      const question: Question = { component: make(answer), cancel }
      this.questions.push(question)
      if (signal?.aborted) cancel()
      else signal?.addEventListener('abort', cancel, { once: true })
      this.show()
    })
  }

  /** Cancels the question that is shown; false when there is none. */
  cancel(): boolean {
    const shown = this.questions[0]
    shown?.cancel()
    return shown !== undefined
  }
}
