import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@mariozechner/pi-tui'

/** Every printed line must fit: the renderer refuses a line that is wider than the terminal. */
export function fit(lines: readonly string[], width: number): string[] {
  return lines.map((line) =>
    !isPicture(line) && visibleWidth(line) > width ? truncateToWidth(line, width, '…') : line,
  )
}

/** A picture is one long control sequence; the terminal keeps it within its cells. */
function isPicture(line: string): boolean {
  return line.includes('\x1b_G') || line.includes('\x1b]1337;File=')
}

export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [''] : wrapTextWithAnsi(line, Math.max(1, width))))
}

/** The last `max` lines, with one line in front that says how many are not shown. */
export function tail(lines: readonly string[], max: number, hidden: (count: number) => string): string[] {
  return lines.length <= max ? [...lines] : [hidden(lines.length - max), ...lines.slice(-max)]
}

/** The first `max` lines, with one line behind that says how many are not shown. */
export function head(lines: readonly string[], max: number, hidden: (count: number) => string): string[] {
  return lines.length <= max ? [...lines] : [...lines.slice(0, max), hidden(lines.length - max)]
}

export function indent(lines: readonly string[], by: string): string[] {
  return lines.map((line) => `${by}${line}`)
}
