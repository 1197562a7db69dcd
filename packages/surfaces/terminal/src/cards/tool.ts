import { seconds, type ToolItem } from '../items.ts'
import { oneLine, sanitize } from '../sanitize.ts'
import type { Theme } from '../theme.ts'
import { countChanges, diffCard, isFileDiffs } from './diff.ts'
import { head, indent, tail } from './fit.ts'

export interface CardOptions {
  readonly theme: Theme
  readonly width: number
  /** Show everything instead of a few lines. */
  readonly expanded: boolean
}

type Args = { readonly [key: string]: unknown }

/** A tool call: one title line, then what a person wants to see of its result. */
export function toolCard(item: ToolItem, options: CardOptions): string[] {
  const { theme } = options
  const args = parseArgs(item.args)
  const mark =
    item.state !== 'done' ? theme.accent('●') : item.isError || failed(item) ? theme.bad('✗') : theme.good('✓')
  const title = `${mark} ${theme.bold(item.name || 'tool')} ${titleOf(item, args)}${timing(item, theme)}`
  return [title, ...indent(body(item, args, options), '  ')]
}

function failed(item: ToolItem): boolean {
  return item.name === 'bash' && /\n?\[(exit code: \d+|killed by signal: \w+)\]$/.test(item.result ?? '')
}

function timing(item: ToolItem, theme: Theme): string {
  if (item.startedAt === undefined || item.endedAt === undefined) return ''
  const ms = item.endedAt - item.startedAt
  return ms < 1000 ? '' : theme.dim(` ${seconds(ms)}`)
}

function titleOf(item: ToolItem, args: Args): string {
  const text = (key: string) => (typeof args[key] === 'string' ? oneLine(args[key] as string, 160) : '')
  switch (item.name) {
    case 'bash':
      return text('command')
    case 'read':
    case 'read_image':
    case 'write':
    case 'edit':
      return text('file_path')
    case 'str_replace_editor':
      return `${text('command')} ${text('path')}`
    case 'glob':
      return `${text('pattern')}${args['path'] === undefined ? '' : ` in ${text('path')}`}`
    case 'grep':
      return `${text('pattern')}${args['path'] === undefined ? '' : ` in ${text('path')}`}${args['include'] === undefined ? '' : ` (${text('include')})`}`
    case 'job_output':
    case 'job_kill':
      return text('job_id')
    case 'todo_write':
    case 'job_list':
    case 'apply_patch':
      return ''
    default:
      return oneLine(item.args, 120)
  }
}

function body(item: ToolItem, args: Args, options: CardOptions): string[] {
  const { theme, expanded } = options
  if (item.state === 'streaming' && item.name !== 'write' && item.name !== 'edit') return []
  const hidden = (count: number) => theme.dim(`… ${count} more lines (ctrl+o shows all)`)
  const limit = (lines: number) => (expanded ? Number.POSITIVE_INFINITY : lines)
  if (item.isError) return head(resultLines(item).map(theme.bad), limit(6), hidden)
  const diffs = diffsOf(item, args)
  if (diffs !== undefined) {
    const { added, removed } = countChanges(diffs)
    return [theme.dim(`+${added} −${removed}`), ...diffCard(diffs, theme, limit(24))]
  }
  switch (item.name) {
    case 'bash':
      return tail(resultLines(item).map(theme.dim), limit(8), (count) =>
        theme.dim(`… ${count} lines above (ctrl+o shows all)`),
      )
    case 'read':
      return item.state === 'done' ? [theme.dim(readSummary(item))] : []
    case 'todo_write':
      return todoLines(args, theme)
    case 'glob':
    case 'grep':
      return head(resultLines(item).map(theme.dim), limit(8), hidden)
    default:
      return head(resultLines(item).map(theme.dim), limit(6), hidden)
  }
}

function diffsOf(item: ToolItem, args: Args) {
  const meta = item.meta as { diffs?: unknown } | undefined
  if (isFileDiffs(meta?.diffs) && meta.diffs.length > 0) return meta.diffs
  if (item.name === 'write' && typeof args['content'] === 'string') {
    return [{ path: String(args['file_path'] ?? ''), oldText: null, newText: args['content'] }]
  }
  if (item.name === 'edit' && typeof args['new_string'] === 'string') {
    return [
      { path: String(args['file_path'] ?? ''), oldText: String(args['old_string'] ?? ''), newText: args['new_string'] },
    ]
  }
  return undefined
}

function readSummary(item: ToolItem): string {
  const meta = item.meta as { lines?: readonly { number: number }[]; totalLines?: number } | undefined
  const lines = meta?.lines
  if (lines === undefined || meta?.totalLines === undefined) return `${resultLines(item).length} lines`
  if (lines.length === 0) return 'empty file'
  return `lines ${lines[0]?.number}–${lines.at(-1)?.number} of ${meta.totalLines}`
}

function todoLines(args: Args, theme: Theme): string[] {
  const todos = Array.isArray(args['todos']) ? (args['todos'] as { content?: unknown; status?: unknown }[]) : []
  return todos.map((todo) =>
    todoLine({ content: String(todo.content ?? ''), status: String(todo.status ?? '') }, theme),
  )
}

export function todoLine(todo: { readonly content: string; readonly status: string }, theme: Theme): string {
  const text = oneLine(todo.content)
  if (todo.status === 'completed') return theme.dim(`☑ ${text}`)
  return todo.status === 'in_progress' ? theme.accent(`▶ ${text}`) : `☐ ${text}`
}

function resultLines(item: ToolItem): string[] {
  const text = sanitize(item.result ?? '').replace(/\n$/, '')
  return text === '' ? [] : text.split('\n')
}

/** Arguments while they stream are half a document: the strings that are complete so far are enough for a title. */
export function parseArgs(raw: string): Args {
  try {
    const value: unknown = JSON.parse(raw === '' ? '{}' : raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Args) : {}
  } catch {
    const found: Record<string, string> = {}
    for (const match of raw.matchAll(/"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"?)/g)) {
      const text = match[2] ?? ''
      try {
        found[match[1] ?? ''] = JSON.parse(
          text.endsWith('"') && text.length > 1 ? text : `${text.replace(/\\+$/, '')}"`,
        )
      } catch {
        // an escape sequence is still incomplete
      }
    }
    return found
  }
}
