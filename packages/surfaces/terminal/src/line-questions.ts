/** Questions of line mode: the next line answers the one that is open, and one is open at a time. */
export interface LineQuestions {
  /** Resolves with the line; with undefined when the person or the signal ends the question, or no more lines come. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Gives a line to the open question, or ends it with undefined; false when none is open. */
  answer(line: string | undefined): boolean
  /** True while an answer is waited for. */
  readonly waiting: boolean
  /** No more lines will come. */
  close(): void
}

export function createQuestions(print: (text: string) => void): LineQuestions {
  let open: ((line: string | undefined) => void) | undefined
  let closed = false
  let before: Promise<unknown> = Promise.resolve()
  const askNow = (question: string, signal: AbortSignal | undefined) =>
    new Promise<string | undefined>((resolve) => {
      if (closed || signal?.aborted) {
        resolve(undefined)
        return
      }
      const cancel = () => settle(undefined)
      const settle = (line: string | undefined) => {
        if (open === settle) open = undefined
        signal?.removeEventListener('abort', cancel)
        resolve(line)
      }
      open = settle
      signal?.addEventListener('abort', cancel, { once: true })
      print(question)
    })
  const answer = (line: string | undefined): boolean => {
    const asked = open
    asked?.(line)
    return asked !== undefined
  }
  return {
    ask(question, signal) {
      const asked = before.then(() => askNow(question, signal))
      before = asked
      return asked
    },
    answer,
    get waiting() {
      return open !== undefined
    },
    close() {
      closed = true
      answer(undefined)
    },
  }
}
