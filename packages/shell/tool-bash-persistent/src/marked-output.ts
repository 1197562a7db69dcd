const marks = /\x1b\]133;([CDX]);([0-9a-f]+)(?:;(\d+))?\x07/g
/** Longer than any mark, so that one cut in two by a read is found with the next. */
const longestMark = 80

/**
 * Cuts the output of one call out of what the terminal prints: the text between the two marks of its tag. Keeps the
 * first `maxChars`, counts the rest.
 */
export class MarkedOutput {
  /** Set once the end mark came. */
  exitCode: number | undefined
  /** Set once the shell said that it exits, with this code. */
  leaving: number | undefined
  private readonly tag: string
  private readonly maxChars: number
  private started = false
  private pending = ''
  private kept = ''
  private dropped = 0

  constructor(tag: string, maxChars: number) {
    this.tag = tag
    this.maxChars = maxChars
  }

  push(text: string): void {
    if (this.exitCode !== undefined || this.leaving !== undefined) return
    this.pending += text
    let from = 0
    for (const match of this.pending.matchAll(marks)) {
      const [mark, kind, tag, code] = match
      if (tag !== this.tag) continue
      if (kind === 'C') this.started = true
      else {
        this.keep(this.pending.slice(from, match.index))
        if (kind === 'X') this.leaving = Number(code)
        else this.exitCode = Number(code)
        this.pending = ''
        return
      }
      from = match.index + mark.length
    }
    // What could be the beginning of a mark waits for the rest of it.
    const begin = this.pending.lastIndexOf('\x1b')
    const open = begin >= from && this.pending.length - begin < longestMark ? begin : this.pending.length
    this.keep(this.pending.slice(from, open))
    this.pending = this.pending.slice(open)
  }

  /** Everything so far, the unfinished end included; `clipped` when there was more. */
  read(): { readonly text: string; readonly clipped: boolean } {
    return { text: this.started ? this.kept + this.pending : '', clipped: this.dropped > 0 }
  }

  /** As `read`, and the next read starts after it. */
  take(): { readonly text: string; readonly clipped: boolean } {
    const now = this.read()
    this.kept = ''
    this.pending = ''
    this.dropped = 0
    return now
  }

  private keep(text: string): void {
    if (!this.started || text === '') return
    const room = this.maxChars - this.kept.length
    this.kept += text.slice(0, room)
    this.dropped += Math.max(0, text.length - room)
  }
}
