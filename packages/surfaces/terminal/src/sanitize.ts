import { stripVTControlCharacters } from 'node:util'

/**
 * Foreign text made safe to print: no escape sequences, no control characters, tabs as spaces, and of a line that
 * was redrawn with carriage returns (a progress bar) only its last state.
 */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/[^\n]*\r(?=[^\n])/g, '')
    .replace(/\r/g, '')
    .replace(/\t/g, '    ')
    .replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, '')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** One line, for titles and labels. */
export function oneLine(text: string, max = 200): string {
  const line = sanitize(text).replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}
