import type { ToolDefinition } from '@dsh/tools'
import { requirePath, type SearchDeps, searchCwd } from './deps.ts'
import { displayPath, hiddenFilter } from './display-path.ts'
import { skippedNote } from './faults.ts'
import { firstPage, inPathOrder, preview, renderGrep, renderMatches } from './grep-page.ts'
import { type GrepMatch, readMatches } from './grep-records.ts'
import { matchesMeta } from './meta.ts'
import type { SavedList } from './saved-list.ts'
import { search, unfinishedNote } from './search.ts'
import { grepDescription } from './texts.ts'

export interface GrepArgs {
  readonly pattern: string
  readonly path?: string
  readonly include?: string
}
export interface GrepValue {
  /** All of them; lines are previews. */
  readonly matches: readonly GrepMatch[]
  readonly saved?: SavedList
  readonly notes?: readonly string[]
}

export function grepTool(deps: SearchDeps): ToolDefinition<GrepArgs, GrepValue> {
  const { config } = deps
  const page = (value: GrepValue) => firstPage(value.matches, config.grepMaxMatches, config.grepMaxInlineBytes)
  return {
    name: 'grep',
    description: grepDescription(config),
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'Regular expression in ripgrep (Rust) syntax.' },
        path: { type: 'string', description: 'File or directory to search in. Defaults to the working directory.' },
        include: { type: 'string', description: 'One glob that file names must match, e.g. `*.ts` or `*.{ts,tsx}`.' },
      },
      required: ['pattern'],
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          matches: {
            type: 'array',
            items: {
              type: 'object',
              properties: { path: { type: 'string' }, lineNumber: { type: 'integer' }, line: { type: 'string' } },
              required: ['path', 'lineNumber', 'line'],
            },
          },
        },
        required: ['matches'],
      },
      render: (_args, value) => [
        { type: 'text', text: renderGrep(page(value), value.matches.length, value.saved, value.notes ?? []) },
      ],
      presentationMeta: (_args, value) => matchesMeta(page(value), value.matches.length, config.searchMetaMaxBytes),
    },
    nullIsAbsent: true,
    isConcurrencySafe: () => true,
    timeoutMs: config.timeoutMs,
    async execute(args, exec) {
      if (args.pattern === '') throw new Error('pattern must be a non-empty string')
      requirePath(args.path)
      requireInclude(args.include)
      const cwd = searchCwd(exec)
      const output = await search(
        {
          tool: 'grep',
          argv: [
            '--json',
            '--crlf',
            `--regexp=${args.pattern}`,
            ...(args.include === undefined ? [] : [`--glob=${args.include}`]),
            ...(args.path === undefined ? [] : ['--', args.path]),
          ],
          cwd,
          root: args.path,
          signal: exec.signal,
          deadlineMs: config.softDeadlineMs,
        },
        deps.processes,
        config,
      )
      const hidden = hiddenFilter(deps.hiddenPaths(exec), cwd, args.path)
      const found = readMatches(output.stdout, output.unfinished).filter((match) => !hidden?.(match.path))
      const matches = inPathOrder(found).map(({ path, lineNumber, line }) => ({
        path: displayPath(path, cwd),
        lineNumber,
        line: preview(line, config.grepMaxLineBytes),
      }))
      const over = firstPage(matches, config.grepMaxMatches, config.grepMaxInlineBytes).length < matches.length
      const saved = over ? await deps.save(`${renderMatches(matches, matches.length)}\n`, exec) : undefined
      const notes = [
        output.unfinished ? unfinishedNote(config.softDeadlineMs) : undefined,
        skippedNote(output.faults),
      ].filter((note) => note !== undefined)
      return { matches, ...(saved === undefined ? {} : { saved }), ...(notes.length === 0 ? {} : { notes }) }
    },
  }
}

function requireInclude(include: string | undefined): void {
  if (include === undefined) return
  if (include.trim() === '') throw new Error('include must be a non-empty glob when given')
  if (include.startsWith('!'))
    throw new Error('include must be a positive glob filter; negated patterns ("!…") are not supported')
  if (hasOuterComma(include))
    throw new Error('include must be one glob, not a comma-separated list (use {a,b} alternation instead)')
}

function hasOuterComma(glob: string): boolean {
  let depth = 0
  for (const char of glob) {
    if (char === '{') depth++
    else if (char === '}') depth = Math.max(0, depth - 1)
    else if (char === ',' && depth === 0) return true
  }
  return false
}
