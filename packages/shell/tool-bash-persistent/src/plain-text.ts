/** Control sequences (CSI, OSC, other escapes) that a terminal would obey and a reader should not see. */
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g

/** Terminal output as text: no escapes, lines end in LF, and a line that was redrawn keeps its last form. */
export function plainText(output: string): string {
  const text = output.replace(sequences, '').replace(/\r+\n/g, '\n')
  if (!/[\r\x08]/.test(text)) return text.replace(/[\x00\x07]/g, '')
  return text
    .split('\n')
    .map(redrawn)
    .join('\n')
    .replace(/[\x00\x07]/g, '')
}

/** `\r` starts the line over, a backspace steps back; what follows overwrites. */
function redrawn(line: string): string {
  const cells: string[] = []
  let at = 0
  for (const char of line) {
    if (char === '\r') at = 0
    else if (char === '\b') at = Math.max(0, at - 1)
    else cells[at++] = char
  }
  return cells.join('')
}
