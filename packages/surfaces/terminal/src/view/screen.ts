import { type Component, ProcessTerminal, type Terminal, TUI } from '@mariozechner/pi-tui'

/** Keeps the scrollback: what a person scrolled past is theirs, also when the screen is drawn again. */
export class KeepingTerminal extends ProcessTerminal {
  bytesWritten = 0
  override write(data: string): void {
    const kept = data.replaceAll('\x1b[3J', '')
    this.bytesWritten += kept.length
    super.write(kept)
  }
}

/** The renderer's own bookkeeping, which has no public face (pi-tui 0.73). */
interface Internals {
  previousLines: string[]
  previousViewportTop: number
  previousWidth: number
  previousHeight: number
  cursorRow: number
  hardwareCursorRow: number
  maxLinesRendered: number
  doRender(): void
}

/** Called before a frame with the number of lines above the viewport; gives up to that many from the top and says how many. */
export type Commit = (lines: number, width: number) => number

/**
 * pi-tui's renderer compares every line of the whole conversation in each frame. Lines that settled above the viewport are handed
 * to the scrollback first, so that a frame costs what is on the screen and no more.
 */
export class Screen extends TUI {
  constructor(terminal: Terminal, commit: Commit) {
    super(terminal, true)
    this.setClearOnShrink(false)
    const inner = this as unknown as Internals
    const draw = inner.doRender.bind(this)
    inner.doRender = () => {
      // After a resize the screen is drawn afresh; the rows that the old frame stood on mean nothing any more.
      const sameSize = inner.previousWidth === terminal.columns && inner.previousHeight === terminal.rows
      if (sameSize && inner.previousViewportTop > 0)
        handOver(inner, commit(inner.previousViewportTop, terminal.columns))
      draw()
    }
  }

  /** Ends the drawing for good, with nothing left on the screen but the conversation. */
  leave(conversation: Component): void {
    this.clear()
    this.addChild(withoutBlankEnd(conversation))
    try {
      const inner = this as unknown as Internals
      inner.doRender()
      // A frame of no lines leaves the line that the cursor is on.
      if (inner.previousLines.length === 0) this.terminal.write('\r\x1b[J')
    } finally {
      this.stop()
    }
  }
}

/** The shell's next line comes right behind the end. */
function withoutBlankEnd(inner: Component): Component {
  return {
    invalidate: () => inner.invalidate(),
    render(width) {
      const lines = inner.render(width)
      return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
    },
  }
}

function handOver(inner: Internals, lines: number): void {
  if (lines === 0) return
  inner.previousLines = inner.previousLines.slice(lines)
  inner.previousViewportTop -= lines
  inner.cursorRow -= lines
  inner.hardwareCursorRow -= lines
  inner.maxLinesRendered = Math.max(0, inner.maxLinesRendered - lines)
}
