import type { FsPatchChunk } from '@dsh/fs'
import { patchSyntax } from './errors.ts'
import type { ParsedOperation } from './types.ts'

const begin = '*** Begin Patch'
const end = '*** End Patch'
const endOfFile = '*** End of File'
const moveTo = '*** Move to:'
const headers = { add: '*** Add File:', delete: '*** Delete File:', update: '*** Update File:' } as const

/** The operations of a patch, in order. Lenient about framing, strict about everything that decides a byte. */
export function parsePatch(input: string): readonly ParsedOperation[] {
  const reader = new Reader(bodyLines(input))
  const operations: ParsedOperation[] = []
  while (reader.skipBlank()) operations.push(operation(reader))
  return operations
}

/** The lines between the markers; without a heredoc around them, which models like to add. */
function bodyLines(input: string): readonly string[] {
  const lines = input.replaceAll('\r\n', '\n').trim().split('\n')
  const heredoc = /^<<(?:EOF|'EOF'|"EOF")$/.test(lines[0]?.trim() ?? '')
  const framed =
    heredoc && lines.length >= 4 && lines.at(-1)?.endsWith('EOF')
      ? lines.slice(1, -1).join('\n').trim().split('\n')
      : lines
  if (framed.length === 1 && framed[0] === '')
    throw patchSyntax(`invalid patch: The last line of the patch must be '${end}'`)
  if (framed[0]?.trim() !== begin) throw patchSyntax(`invalid patch: The first line of the patch must be '${begin}'`)
  if (framed.length < 2 || framed.at(-1)?.trim() !== end)
    throw patchSyntax(`invalid patch: The last line of the patch must be '${end}'`)
  return framed.slice(1, -1)
}

class Reader {
  readonly lines: readonly string[]
  at = 0

  constructor(lines: readonly string[]) {
    this.lines = lines
  }

  /** The next line; undefined at the end marker. */
  get line(): string | undefined {
    return this.lines[this.at]
  }

  /** Its number in the patch, whose first line is the begin marker. */
  get number(): number {
    return this.at + 2
  }

  /** Goes to the next line that is not blank; false at the end. */
  skipBlank(): boolean {
    while (this.line?.trim() === '') this.at++
    return this.line !== undefined
  }
}

function operation(reader: Reader): ParsedOperation {
  const { number } = reader
  const header = (reader.line as string).trim()
  if (header.startsWith(headers.add)) {
    const path = pathOf(header, headers.add, number)
    reader.at++
    return { kind: 'add', line: number, path, content: addedContent(reader) }
  }
  if (header.startsWith(headers.delete)) {
    const path = pathOf(header, headers.delete, number)
    reader.at++
    return { kind: 'delete', line: number, path }
  }
  if (header.startsWith(headers.update)) return update(reader, pathOf(header, headers.update, number), number)
  throw invalidHunk(
    number,
    `'${reader.line}' is not a valid hunk header. Valid hunk headers: '${headers.add} {path}', '${headers.delete} {path}', '${headers.update} {path}'`,
  )
}

function pathOf(header: string, prefix: string, number: number): string {
  const path = header.slice(prefix.length).trim()
  if (path === '') throw invalidHunk(number, 'missing file path')
  return path
}

function addedContent(reader: Reader): string {
  let content = ''
  for (; reader.line?.startsWith('+'); reader.at++) content += `${reader.line.slice(1)}\n`
  return content
}

function update(reader: Reader, path: string, number: number): ParsedOperation {
  reader.at++
  let destination: string | undefined
  if (reader.line?.trim().startsWith(moveTo)) {
    destination = pathOf(reader.line.trim(), moveTo, reader.number)
    reader.at++
  }
  const chunks: FsPatchChunk[] = []
  while (reader.skipBlank() && !isHeader(reader.line as string)) {
    if (chunks.length > 0 && !isPlace(reader.line as string))
      throw invalidHunk(reader.number, `Expected update hunk to start with a @@ context marker, got: '${reader.line}'`)
    chunks.push(chunk(reader))
  }
  if (chunks.length === 0) throw invalidHunk(number, `Update file hunk for path '${path}' is empty`)
  return destination === undefined
    ? { kind: 'update', line: number, path, chunks }
    : { kind: 'move', line: number, path, destination, chunks }
}

function isHeader(line: string): boolean {
  const text = line.trim()
  return Object.values(headers).some((header) => text.startsWith(header))
}

function isPlace(line: string): boolean {
  return line === '@@' || line.startsWith('@@ ') || line.trim() === '@@'
}

const kinds = { ' ': 'context', '+': 'add', '-': 'remove' } as const

function chunk(reader: Reader): FsPatchChunk {
  const contexts: string[] = []
  for (; reader.line !== undefined && isPlace(reader.line); reader.at++) {
    const context = reader.line.slice(3)
    if (context.trim() !== '') contexts.push(context)
  }
  const lines: FsPatchChunk['lines'][number][] = []
  for (; reader.line !== undefined; reader.at++) {
    const text = reader.line
    const kind = kinds[text[0] as keyof typeof kinds]
    if (text === '') lines.push({ kind: 'context', text: '' })
    else if (kind !== undefined) lines.push({ kind, text: text.slice(1) })
    else break
  }
  const marked = reader.line?.trim() === endOfFile
  if (lines.length === 0) {
    if (reader.line === undefined || marked) throw invalidHunk(reader.number, 'Update hunk does not contain any lines')
    throw invalidHunk(
      reader.number,
      `Unexpected line found in update hunk: '${reader.line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`,
    )
  }
  if (marked) reader.at++
  return { contexts, lines, endOfFile: marked }
}

function invalidHunk(line: number, message: string): Error {
  return patchSyntax(`invalid hunk at line ${line}, ${message}`)
}
