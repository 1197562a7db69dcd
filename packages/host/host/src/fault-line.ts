import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { errorText, isDshError } from '@dsh/core'
import type { MountedRow } from './mount.ts'

/** A piece of text that a stack frame of this row's code contains; undefined when that is not known. */
export type StackMark = (name: string) => string | undefined

/** A stack frame as it names its file; for programs whose files were joined to one. */
export type StackFrame = (frame: string) => string

/** `row x (package): message` where the stack tells whose code failed, else just the message. */
export function faultLine(
  error: unknown,
  rows: readonly MountedRow[],
  mark: StackMark,
  plain: StackFrame = (frame) => frame,
): string {
  const text = errorText(error)
  const message = isDshError(error) ? `${error.code}: ${text}` : text
  const row = rowOf(error, rows, mark, plain)
  return row === undefined ? message : `row ${row.row.id} (${row.row.name}): ${message}`
}

/** ` (file:line)` of the throw in the file of a row that is one, for errors that nobody put into words. */
export function placeInRow(error: unknown, name: string): string {
  if (!(error instanceof Error) || isDshError(error)) return ''
  const file = name.startsWith('file:') ? fileURLToPath(name) : name
  if (!isAbsolute(file)) return ''
  for (const line of (error.stack ?? '').split('\n')) {
    const [, place, number] = /^\s+at (?:.*\()?((?:file:\/\/)?\/[^?]*?)(?:\?\S*?)?:(\d+):\d+\)?$/.exec(line) ?? []
    if (place !== undefined && (place === file || place === pathToFileURL(file).href)) return ` (${file}:${number})`
  }
  return ''
}

/** The row whose code is nearest to the throw. */
function rowOf(
  error: unknown,
  rows: readonly MountedRow[],
  mark: StackMark,
  plain: StackFrame,
): MountedRow | undefined {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []
  for (const frame of frames.map(plain)) {
    const row = rows.find((candidate) => {
      const fragment = mark(candidate.row.name)
      return fragment !== undefined && frame.includes(fragment)
    })
    if (row !== undefined) return row
  }
  return undefined
}
