import { cutUtf8End, cutUtf8Start } from '@dsh/core'

/** Lines that state how a call ended. A surface and the model look for them at the very end. */
const marker =
  /^\[(?:exit code: -?\d+|killed by signal: [^\]]+|timed out after [^\]]+|status: [^\]]*|sandbox: .*|shell (?:exited|killed)[^\]]*)\]$/

/**
 * The text cut to `maxBytes`: its head and its tail, and a notice that says where all of it is. Markers at the end
 * stay there, behind the notice. undefined when not even the notice fits.
 */
export function excerpt(text: string, maxBytes: number, notice: (omitted: number) => string): string | undefined {
  const { body, markers } = splitMarkers(text)
  const total = Buffer.byteLength(body)
  const end = markers === '' ? '' : `\n${markers}`
  // The notice names a number whose digits count too: it is made for the largest one first.
  let room = maxBytes - Buffer.byteLength(`\n\n${notice(total)}${end}`)
  if (room < 0) return undefined
  room = Math.min(room, total)
  const head = cutUtf8End(body, Math.ceil(room / 2))
  const tail = cutUtf8Start(body, Math.floor(room / 2))
  const omitted = total - Buffer.byteLength(head) - Buffer.byteLength(tail)
  return `${head}${tail}\n\n${notice(omitted)}${end}`
}

function splitMarkers(text: string): { readonly body: string; readonly markers: string } {
  let start = text.length
  for (;;) {
    const lineStart = text.lastIndexOf('\n', start - 2) + 1
    const line = text.slice(lineStart, start === text.length ? start : start - 1)
    if (lineStart === 0 || !marker.test(line)) break
    start = lineStart
  }
  return start === text.length
    ? { body: text, markers: '' }
    : { body: text.slice(0, start), markers: text.slice(start) }
}
