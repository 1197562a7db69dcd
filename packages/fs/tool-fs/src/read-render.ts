import { sliceCodePoints } from '@dsh/core'

export interface ReadCaps {
  readonly readLimit: number
  readonly readMaxLineLength: number
  readonly readMaxBytes: number
}
export interface ReadLine {
  readonly number: number
  readonly text: string
}
export interface ReadValue {
  readonly path: string
  readonly offset: number
  readonly lines: readonly ReadLine[]
  readonly totalLines: number
}

/** Takes a text in pieces of any size; keeps the wanted lines and counts all of them. */
export class LineWindow {
  readonly lines: ReadLine[] = []
  totalLines = 0
  readonly offset: number
  readonly limit: number
  readonly caps: ReadCaps
  /** The start of the current line, one unit more than can be shown. */
  head = ''
  /** Its length so far, in UTF-16 units. */
  length = 0
  endsInCr = false
  bytes = 0
  full = false

  constructor(offset: number, limit: number, caps: ReadCaps) {
    this.offset = offset
    this.limit = limit
    this.caps = caps
  }

  push(piece: string): void {
    let at = 0
    for (;;) {
      const feed = piece.indexOf('\n', at)
      if (feed === -1) break
      if (this.length === 0 && !this.wants()) this.totalLines++
      else {
        this.extend(piece, at, feed)
        this.endLine()
      }
      at = feed + 1
    }
    if (at < piece.length) this.extend(piece, at, piece.length)
  }

  end(): void {
    if (this.length > 0) this.endLine()
  }

  wants(): boolean {
    return !this.full && this.totalLines + 1 >= this.offset
  }

  extend(piece: string, from: number, to: number): void {
    if (to === from) return
    if (this.wants()) {
      const room = this.caps.readMaxLineLength + 1 - this.head.length
      if (room > 0) this.head += piece.slice(from, Math.min(to, from + room))
    }
    this.length += to - from
    this.endsInCr = piece.charCodeAt(to - 1) === 13
  }

  endLine(): void {
    const wanted = this.wants()
    this.totalLines++
    if (wanted) this.keep()
    this.head = ''
    this.length = 0
    this.endsInCr = false
  }

  keep(): void {
    const max = this.caps.readMaxLineLength
    const length = this.endsInCr ? this.length - 1 : this.length
    const text =
      length > max
        ? `${sliceCodePoints(this.head, max)}... (line truncated to ${max} chars)`
        : this.head.slice(0, length)
    const bytes = Buffer.byteLength(text) + (this.lines.length > 0 ? 1 : 0)
    // One row always goes out, else the same offset would be asked for again.
    if (this.lines.length > 0 && this.bytes + bytes > this.caps.readMaxBytes) {
      this.full = true
      return
    }
    this.bytes += bytes
    this.lines.push({ number: this.totalLines, text })
    if (this.lines.length >= this.limit) this.full = true
  }
}

export function renderRead(value: ReadValue, limit: number): string {
  const rows = value.lines.map((line) => `${line.number}: ${line.text}`)
  const body = rows.length === 0 ? footer(value, limit) : `${rows.join('\n')}\n\n${footer(value, limit)}`
  return envelope(value.path, 'file', body)
}

export function envelope(path: string, type: 'file' | 'image', content: string): string {
  return `<path>${path}</path>\n<type>${type}</type>\n<content>\n${content}\n</content>`
}

function footer(value: ReadValue, limit: number): string {
  const first = value.lines[0]
  const last = value.lines.at(-1)
  if (first === undefined || last === undefined || last.number >= value.totalLines)
    return `(End of file - total ${value.totalLines} lines)`
  const next = `Use offset=${last.number + 1} to continue.`
  // Fewer rows than asked for, and more in the file: the byte cap ended the window.
  if (value.lines.length < limit) return `(Output capped. Showing lines ${first.number}-${last.number}. ${next})`
  return `(Showing lines ${first.number}-${last.number} of ${value.totalLines}. ${next})`
}
