import type { Terminal } from '@mariozechner/pi-tui'
import xterm from '@xterm/headless'

/** A terminal in memory: what a person would see, and how many bytes it took. */
export class VirtualTerminal implements Terminal {
  readonly kittyProtocolActive = false
  bytes = 0
  private readonly term: InstanceType<typeof xterm.Terminal>
  private onInput: (data: string) => void = () => {}
  private onResize: () => void = () => {}
  constructor(columns = 80, rows = 24) {
    this.term = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
  }
  get columns(): number {
    return this.term.cols
  }
  get rows(): number {
    return this.term.rows
  }
  start(onInput: (data: string) => void, onResize: () => void): void {
    this.onInput = onInput
    this.onResize = onResize
  }
  stop(): void {}
  async drainInput(): Promise<void> {}
  write(data: string): void {
    const kept = data.replaceAll('\x1b[3J', '')
    this.bytes += kept.length
    this.term.write(kept)
  }
  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`)
  }
  hideCursor(): void {
    this.write('\x1b[?25l')
  }
  showCursor(): void {
    this.write('\x1b[?25h')
  }
  clearLine(): void {
    this.write('\x1b[K')
  }
  clearFromCursor(): void {
    this.write('\x1b[J')
  }
  clearScreen(): void {
    this.write('\x1b[2J\x1b[H')
  }
  setTitle(): void {}
  setProgress(): void {}

  type(data: string): void {
    this.onInput(data)
  }
  resize(columns: number, rows: number): void {
    this.term.resize(columns, rows)
    this.onResize()
  }
  /** Waits for the next frames (the renderer draws at most every 16 ms) and for the parser. */
  async settle(ms = 60): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms))
    await new Promise<void>((resolve) => this.term.write('', resolve))
  }
  screen(): string[] {
    const buffer = this.term.buffer.active
    return Array.from(
      { length: this.term.rows },
      (_, row) => buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '',
    )
  }
  everything(): string[] {
    const buffer = this.term.buffer.active
    return Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? '')
  }
  cursor(): { row: number; column: number } {
    const buffer = this.term.buffer.active
    return { row: buffer.cursorY, column: buffer.cursorX }
  }
}
