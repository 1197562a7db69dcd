import { isUtf8 } from 'node:buffer'
import { isDshError } from '@dsh/core'
import { type FsInfo, type FsTarget, type FsVersion, fsError, fsErrors } from '@dsh/fs'
import type { ToolExecution } from '@dsh/tools'
import type { EditorArgs, EditorDeps } from './deps.ts'
import { isDirectory, missing, notRegular, refuseNullReplacement, required } from './errors.ts'

export async function create(args: EditorArgs, exec: ToolExecution, deps: EditorDeps): Promise<string> {
  const { fs } = deps
  const content = required(args.file_text, 'file_text', 'create')
  const policy = deps.policy(exec)
  const target = await fs.resolve(args.path, { signal: exec.signal, verb: 'write' })
  if ((await fs.lstat(target.displayPath, {}, exec.signal)) !== undefined)
    throw new Error(`File already exists at: ${target.displayPath}. Cannot overwrite files using command \`create\`.`)
  const intent = deps.writeIntent(target, exec) ?? { kind: 'createIfAbsent' }
  const outcome = await fs.writeText(target, content, intent, exec.signal, policy)
  deps.observed(target, { kind: 'present', version: outcome.version }, exec)
  return `New file created successfully at: ${target.displayPath}`
}

export async function strReplace(args: EditorArgs, exec: ToolExecution, deps: EditorDeps): Promise<string> {
  const { fs } = deps
  const { signal } = exec
  refuseNullReplacement(exec.arguments)
  const target = await fs.resolve(args.path, { signal, verb: 'edit' })
  const intent = deps.editIntent(target, exec)
  const oldString = required(args.old_str, 'old_str', 'str_replace')
  if (oldString === '') throw new Error('Parameter `old_str` is empty for command: str_replace')
  const info = await regular(target, 'edit', exec, deps)
  const edit = { oldString, newString: args.new_str ?? '', replaceAll: false }
  try {
    const outcome = await fs.editText(target, edit, intent ?? info, signal, deps.policy(exec))
    deps.observed(target, { kind: 'present', version: outcome.version }, exec)
  } catch (error) {
    throw await matchProblem(error, target, oldString, exec, deps)
  }
  return `The file ${target.displayPath} has been edited successfully.`
}

async function matchProblem(
  error: unknown,
  target: FsTarget,
  oldString: string,
  exec: ToolExecution,
  deps: EditorDeps,
): Promise<unknown> {
  if (!isDshError(error)) return error
  if (error.code === fsErrors.editNotFound)
    return fsError(
      fsErrors.editNotFound,
      `No replacement was performed, old_str \`${oldString}\` did not appear verbatim in ${target.displayPath}.`,
      { cause: error },
    )
  if (error.code !== fsErrors.ambiguousEdit) return error
  const lines = startLines(await deps.fs.readText(target, exec.signal), oldString)
  return fsError(
    fsErrors.ambiguousEdit,
    `No replacement was performed. Multiple occurrences of old_str \`${oldString}\` in lines [${lines.join(', ')}]. Please ensure it is unique`,
    { cause: error },
  )
}

function startLines(text: string, needle: string): number[] {
  const [haystack, wanted] = [text.replaceAll('\r\n', '\n'), needle.replaceAll('\r\n', '\n')]
  const lines: number[] = []
  let line = 1
  let counted = 0
  for (let at = haystack.indexOf(wanted); at !== -1; at = haystack.indexOf(wanted, at + wanted.length)) {
    for (; counted < at; counted++) if (haystack[counted] === '\n') line++
    lines.push(line)
  }
  return lines
}

/** Enough for any file that a person would edit by line. */
const insertMaxBytes = 256 * 1024 * 1024

export async function insert(args: EditorArgs, exec: ToolExecution, deps: EditorDeps): Promise<string> {
  const { fs } = deps
  const { signal } = exec
  const line = required(args.insert_line, 'insert_line', 'insert')
  const added = required(args.new_str, 'new_str', 'insert')
  const target = await fs.resolve(args.path, { signal, verb: 'edit' })
  const intent = deps.editIntent(target, exec)
  const info = await regular(target, 'insert into', exec, deps)
  const version: FsVersion = intent?.version ?? info.version
  const bytes = Buffer.from(await fs.readBytes(target, signal, insertMaxBytes))
  if (bytes.includes(0) || !isUtf8(bytes))
    throw fsError(
      fsErrors.notText,
      `cannot edit "${target.displayPath}": ${bytes.includes(0) ? 'binary file' : 'invalid UTF-8 text'}`,
    )
  const content = withInserted(bytes.toString('utf8'), line, added)
  const outcome = await fs.writeText(target, content, { kind: 'replaceIfVersion', version }, signal, deps.policy(exec))
  deps.observed(target, { kind: 'present', version: outcome.version }, exec)
  return `The file ${target.displayPath} has been edited successfully.`
}

/** Behind line `after`, in the line endings that most lines have. The text behind a final newline counts as a line. */
export function withInserted(text: string, after: number, added: string): string {
  const lines = text.split('\n')
  const last = lines.length
  if (!Number.isInteger(after) || after < 0 || after > last)
    throw new Error(
      `Invalid \`insert_line\` parameter: ${after}. It should be within the range of lines of the file: [0, ${last}]`,
    )
  const crlf = lines.slice(0, -1).filter((line) => line.endsWith('\r')).length
  const eol = crlf > last - 1 - crlf ? '\r\n' : '\n'
  const block = added.replaceAll('\r\n', '\n').replaceAll('\n', eol)
  if (after === last) return text + eol + block
  const head = lines.slice(0, after).map((line) => `${line}\n`)
  return `${head.join('')}${block}${eol}${lines.slice(after).join('\n')}`
}

async function regular(target: FsTarget, what: string, exec: ToolExecution, deps: EditorDeps): Promise<FsInfo> {
  const info = await deps.fs.stat(target, exec.signal)
  if (info === undefined) {
    deps.observed(target, { kind: 'absent' }, exec)
    throw missing(target)
  }
  if (info.type === 'directory') throw isDirectory(target)
  if (info.type !== 'file') throw notRegular(target, what)
  return info
}
