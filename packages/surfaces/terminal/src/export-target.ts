import path from 'node:path'
import { DshError } from '@dsh/core'

const formats: readonly string[] = ['md', 'html', 'jsonl']

export interface ExportTarget {
  readonly format: string
  /** As it was typed; undefined = a file named after the session. */
  readonly file: string | undefined
}

/** What the words behind `/export` ask for: nothing, a format, a format and a path, or a path whose ending is the format. */
export function exportTarget(args: string): ExportTarget {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? []
  if (word === '') return { format: 'md', file: undefined }
  if (formats.includes(word)) return { format: word, file: rest === '' ? undefined : rest }
  const file = args.trim()
  const ending = path.extname(file).slice(1).toLowerCase()
  if (formats.includes(ending)) return { format: ending, file }
  throw new DshError('TERMINAL', `no such format: ${ending || word} (there are: ${formats.join(', ')})`)
}
