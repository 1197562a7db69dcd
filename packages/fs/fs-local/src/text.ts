import { isUtf8 } from 'node:buffer'
import { fsError, fsErrors } from '@dsh/fs'

/** Bytes searched for a NUL before a file counts as binary. */
export const sniffBytes = 8192
const bom = '\uFEFF'

export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string
  readonly bom: boolean
}

/** Strict UTF-8 of the whole file. `nul` says where a NUL makes it binary: in the first 8 KiB, or anywhere. */
export function decodeText(bytes: Buffer, verb: string, shown: string, nul: 'head' | 'anywhere'): DecodedText {
  if ((nul === 'head' ? bytes.subarray(0, sniffBytes) : bytes).includes(0)) throw binaryFile(verb, shown, bytes)
  if (!isUtf8(bytes)) throw invalidText(verb, shown, bytes)
  return splitBom(bytes.toString('utf8'))
}

export function splitBom(text: string): DecodedText {
  return text.startsWith(bom) ? { text: text.slice(1), bom: true } : { text, bom: false }
}

export function encodeText(text: string, withBom: boolean): Buffer {
  return Buffer.from(withBom ? bom + text : text, 'utf8')
}

export function binaryFile(verb: string, shown: string, head: Uint8Array): Error {
  return fsError(fsErrors.notText, `cannot ${verb} "${shown}": binary file`, { hint: encodingHint(head, shown) })
}

export function invalidText(verb: string, shown: string, head: Uint8Array): Error {
  return fsError(fsErrors.notText, `cannot ${verb} "${shown}": invalid UTF-8 text`, {
    hint: encodingHint(head, shown) ?? `Hint: not UTF-8; ${iconv('ISO-8859-1', shown)} shows it if it is Latin-1.`,
  })
}

function encodingHint(head: Uint8Array, shown: string): string | undefined {
  const [a, b] = head
  if (a === 0xff && b === 0xfe) return `Hint: UTF-16 (little endian) text; ${iconv('UTF-16', shown)} shows it.`
  if (a === 0xfe && b === 0xff) return `Hint: UTF-16 (big endian) text; ${iconv('UTF-16', shown)} shows it.`
  return undefined
}

function iconv(from: string, shown: string): string {
  return `\`iconv -f ${from} -t UTF-8 '${shown.replaceAll("'", "'\\''")}'\``
}

export function toLf(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
}
