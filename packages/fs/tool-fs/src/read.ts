import { isDshError } from '@dsh/core'
import { type FsInfo, type FsService, type FsTarget, fsError, fsErrors } from '@dsh/fs'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import { requirePath, requirePositiveInteger } from './arguments.ts'
import { type FileToolDeps, sessionCwd } from './deps.ts'
import { withHint } from './error.ts'
import { languageOf } from './language.ts'
import { missHint } from './near-name.ts'
import { LineWindow, type ReadCaps, type ReadValue, renderRead } from './read-render.ts'
import { readDescription } from './texts.ts'

export interface ReadArgs {
  readonly file_path: string
  readonly offset?: number
  readonly limit?: number
}

export function readTool(
  deps: FileToolDeps,
  caps: ReadCaps & { readonly readStreamMinSize: number },
): ToolDefinition<ReadArgs, ReadValue> {
  return {
    name: 'read',
    description: readDescription,
    parameters: {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'Path of the file, absolute or relative to the working directory.' },
        offset: { type: 'number', description: 'First line to return, from 1. Defaults to 1.' },
        limit: {
          type: 'number',
          description: `Number of lines to return. Defaults to ${caps.readLimit}, which is also the most.`,
        },
      },
      required: ['file_path'],
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          offset: { type: 'integer' },
          lines: {
            type: 'array',
            items: {
              type: 'object',
              properties: { number: { type: 'integer' }, text: { type: 'string' } },
              required: ['number', 'text'],
            },
          },
          totalLines: { type: 'integer' },
        },
        required: ['path', 'offset', 'lines', 'totalLines'],
      },
      render: (args, value) => [{ type: 'text', text: renderRead(value, args.limit ?? caps.readLimit) }],
      presentationMeta: (args, value) => {
        const lang = languageOf(args.file_path)
        return lang === undefined ? value : { ...value, lang }
      },
    },
    nullIsAbsent: true,
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      requirePath(args.file_path)
      requirePositiveInteger('offset', args.offset)
      requirePositiveInteger('limit', args.limit)
      if (args.limit !== undefined && args.limit > caps.readLimit)
        throw new Error(`limit must be less than or equal to ${caps.readLimit}`)
      return await read(args, exec, deps, caps)
    },
  }
}

async function read(
  args: ReadArgs,
  exec: ToolExecution,
  deps: FileToolDeps,
  caps: ReadCaps & { readonly readStreamMinSize: number },
): Promise<ReadValue> {
  const { fs } = deps
  const { signal } = exec
  const cwd = sessionCwd(exec)
  const offset = args.offset ?? 1
  try {
    const target = await fs.resolve(args.file_path, { cwd, signal, verb: 'read' })
    const info = await statRegular(target, args.file_path, exec, deps)
    const window = new LineWindow(offset, args.limit ?? caps.readLimit, caps)
    try {
      await fill(window, target, info, fs, caps.readStreamMinSize, signal)
    } catch (error) {
      // It was looked at, at this version: a deliberate full write may replace it.
      if (isDshError(error) && error.code === fsErrors.notText)
        deps.observed(target, { kind: 'present', version: info.version }, exec)
      throw error
    }
    const { totalLines, lines } = window
    if (offset > totalLines && !(totalLines === 0 && offset === 1))
      throw fsError(
        fsErrors.notFound,
        `offset ${offset} is out of range for "${target.displayPath}" (${totalLines} lines)`,
      )
    deps.observed(target, { kind: 'present', version: info.version }, exec)
    return { path: fs.processPath(target), offset, lines, totalLines }
  } catch (error) {
    throw withHint(error, deps.hints)
  }
}

/** The one stat of a read: type, size and the version that is observed. */
export async function statRegular(
  target: FsTarget,
  asked: string,
  exec: ToolExecution,
  deps: FileToolDeps,
): Promise<FsInfo> {
  const { fs, hints } = deps
  const shown = target.displayPath
  const info = await fs.stat(target, exec.signal)
  if (info === undefined) {
    deps.observed(target, { kind: 'absent' }, exec)
    const hint = hints ? await missHint(target, asked, fs, exec.signal) : undefined
    throw fsError(fsErrors.notFound, `cannot read "${shown}": not found`, { hint })
  }
  if (info.type !== 'file')
    throw fsError(fsErrors.notRegularFile, `cannot read "${shown}": not a regular file`, {
      hint:
        info.type === 'directory' ? 'Hint: this is a directory; list it with glob, or with `ls` in bash.' : undefined,
    })
  return info
}

async function fill(
  window: LineWindow,
  target: FsTarget,
  info: FsInfo,
  fs: FsService,
  streamMinSize: number,
  signal: AbortSignal,
): Promise<void> {
  if (info.size !== undefined && info.size < streamMinSize) window.push(await fs.readText(target, signal))
  else for await (const piece of fs.streamText(target, signal)) window.push(piece)
  window.end()
}
