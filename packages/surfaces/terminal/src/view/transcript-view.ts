import type { Component } from '@mariozechner/pi-tui'
import type { ItemRenderer } from '../cards/item.ts'
import type { Item, Transcript } from '../items.ts'

/**
 * Draws the items that may still change, and the settled ones that are still on the screen. Settled lines that have scrolled above
 * the viewport are `committed`: the terminal's own scrollback keeps them, and no later frame costs anything for them.
 */
export class TranscriptView implements Component {
  expanded = false
  private transcript: Transcript
  private readonly renderer: ItemRenderer
  /** Items before this index are committed. */
  private first = 0
  constructor(transcript: Transcript, renderer: ItemRenderer) {
    this.transcript = transcript
    this.renderer = renderer
  }

  /** Shows another session, or the same one again from its last `keep` items. */
  show(transcript: Transcript, keep = 60): void {
    this.transcript = transcript
    this.first = Math.max(0, transcript.items.length - keep)
    this.renderer.invalidate()
  }

  invalidate(): void {
    this.renderer.invalidate()
  }

  render(width: number): string[] {
    const lines: string[] = []
    if (this.first > this.transcript.items.length) this.first = this.transcript.items.length
    for (let at = this.first; at < this.transcript.items.length; at++) {
      lines.push(...this.renderer.render(this.transcript.items[at] as Item, width, this.expanded))
    }
    return lines
  }

  /** Gives up settled items from the top that fit into `lines`; returns how many lines they took. */
  commit(lines: number, width: number): number {
    let given = 0
    while (this.first < this.transcript.items.length) {
      const item = this.transcript.items[this.first] as Item
      if (!item.settled) break
      const height = this.renderer.render(item, width, this.expanded).length
      if (given + height > lines) break
      given += height
      this.renderer.forget(item)
      this.first++
    }
    return given
  }
}
