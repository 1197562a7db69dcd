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
  const kind = signatures.find(([signature]) => startsWith(head, signature))?.[1]
  return kind === undefined ? undefined : `Hint: this is ${kind}.`
}

const signatures: readonly (readonly [readonly number[], string])[] = [
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
  [[0xff, 0xd8, 0xff], 'a JPEG image'],
  [[0x47, 0x49, 0x46, 0x38], 'a GIF image'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF document; `pdftotext` extracts its text where it is installed'],
  [[0x50, 0x4b, 0x03, 0x04], 'a ZIP archive (or a format built on one); `unzip -l` lists it'],
  [[0x1f, 0x8b], 'gzip data; `zcat` shows it'],
  [[0x7f, 0x45, 0x4c, 0x46], 'an ELF program or library'],
  [[0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], 'an SQLite database; `sqlite3` opens it where it is installed'],
]

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte)
}

function iconv(from: string, shown: string): string {
  return `\`iconv -f ${from} -t UTF-8 '${shown.replaceAll("'", "'\\''")}'\``
}

export function toLf(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
}
