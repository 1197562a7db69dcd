import { sliceCodePoints } from '@dsh/core'
import { type FsDirEntry, type FsService, type FsTarget, fsError, fsErrors } from '@dsh/fs'
import type { ToolExecution } from '@dsh/tools'
import type { EditorArgs, EditorDeps } from './deps.ts'
import { missing } from './errors.ts'
import { clipNote } from './texts.ts'

export async function view(args: EditorArgs, exec: ToolExecution, deps: EditorDeps): Promise<string> {
  const { fs, maxOutputChars } = deps
  const target = await fs.resolve(args.path, { signal: exec.signal, verb: 'view' })
  const info = await fs.stat(target, exec.signal)
  if (info === undefined) {
    deps.observed(target, { kind: 'absent' }, exec)
    throw missing(target)
  }
  if (info.type === 'directory') {
    if (args.view_range !== undefined)
      throw new Error('The `view_range` parameter is not allowed when `path` points to a directory.')
    return `${clipped(await listing(target, fs, exec.signal), maxOutputChars)}\n`
  }
  if (info.type !== 'file')
    throw fsError(fsErrors.notRegularFile, `cannot view "${target.displayPath}": not a regular file or directory`)
  const lines = (await fs.readText(target, exec.signal)).split('\n')
  const text = clipped(numbered(target, lines, args.view_range), maxOutputChars)
  deps.observed(target, { kind: 'present', version: info.version }, exec)
  return text
}

function numbered(target: FsTarget, lines: readonly string[], range: readonly number[] | undefined): string {
  const [from, to] = range === undefined ? [1, lines.length] : checkedRange(range, lines.length)
  const shown = range === undefined ? '' : ` with view_range=[${range.join(', ')}]`
  const rows = lines.slice(from - 1, to).map((line, index) => `${String(from + index).padStart(6)}  ${line}\n`)
  return `Here's the content of ${target.displayPath} with line numbers (which has a total of ${lines.length} lines)${shown}:\n${rows.join('')}`
}

function checkedRange(range: readonly number[], total: number): readonly [number, number] {
  if (range.length !== 2) throw new Error('Invalid `view_range`. It should be a list of two integers.')
  const [a, b] = range as [number, number]
  const bad = `Invalid \`view_range\`: [${a}, ${b}].`
  if (a < 1 || a > total)
    throw new Error(`${bad} Its first element \`${a}\` should be within the range of lines of the file: [1, ${total}]`)
  if (b > total)
    throw new Error(
      `${bad} Its second element \`${b}\` should be smaller than the number of lines in the file: \`${total}\``,
    )
  if (b !== -1 && b < a)
    throw new Error(`${bad} Its second element \`${b}\` should be larger or equal than its first \`${a}\``)
  return [a, b === -1 ? total : b]
}

const levels = 2
const letters = { file: 'f', directory: 'd', symlink: '?', other: '?' } as const

async function listing(target: FsTarget, fs: FsService, signal: AbortSignal): Promise<string> {
  const rows: { readonly path: string; readonly letter: string }[] = [{ path: target.displayPath, letter: 'd' }]
  const visit = async (directory: FsTarget, depth: number): Promise<void> => {
    for (const entry of await fs.listDir(directory, signal)) {
      if (isLeftOut(entry.name)) continue
      const path = entry.target.displayPath
      rows.push({ path, letter: letters[entry.type] })
      if (depth < levels && isOwnDirectory(entry, directory)) await visit(entry.target, depth + 1)
    }
  }
  await visit(target, 1)
  const header = `Here're the files and directories up to 2 levels deep in ${target.displayPath}, excluding hidden items, node_modules, and Python cache directories:`
  const sorted = rows.sort((x, y) => (x.path < y.path ? -1 : x.path > y.path ? 1 : 0))
  return `${header}\n${sorted.map((row) => `${row.letter}\t${row.path}\n`).join('')}`
}

function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules' || name === '__pycache__'
}

/** Not a link to one: that could lead anywhere, and back. */
function isOwnDirectory(entry: FsDirEntry, parent: FsTarget): boolean {
  return entry.type === 'directory' && entry.target.targetKey === `${parent.targetKey}/${entry.name}`
}

function clipped(text: string, max: number): string {
  return text.length <= max ? text : sliceCodePoints(text, max) + clipNote
}
