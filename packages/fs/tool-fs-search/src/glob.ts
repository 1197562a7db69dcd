import { resolve } from 'node:path'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import { requirePath, type SearchDeps, searchCwd } from './deps.ts'
import { displayPath, hiddenFilter } from './display-path.ts'
import { skippedNote } from './faults.ts'
import { type GlobPage, globPage, renderGlob } from './glob-page.ts'
import { isAnchored, matchedFrom } from './glob-pattern.ts'
import { pathsMeta } from './meta.ts'
import { stableOrder } from './mtime-order.ts'
import type { SavedList } from './saved-list.ts'
import { type SearchOutput, search, unfinishedNote } from './search.ts'
import { globDescription } from './texts.ts'

export interface GlobArgs {
  readonly pattern: string
  readonly path?: string
}
export interface GlobValue {
  readonly root: string
  /** All of them, in order. */
  readonly paths: readonly string[]
  readonly saved?: SavedList
  readonly notes?: readonly string[]
}

const versionControl = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl']
/** Sorting prints nothing before the end; past this share of the deadline an unsorted run takes what it can. */
const sortedShare = 0.7

export function globTool(deps: SearchDeps): ToolDefinition<GlobArgs, GlobValue> {
  const { config } = deps
  const page = (value: GlobValue): GlobPage =>
    globPage(value.paths, config.globMaxResults, config.sampleOverCapGlobResults, value.root)
  return {
    name: 'glob',
    description: globDescription(config),
    parameters: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          description: 'Glob pattern, e.g. `*.ts`, `src/**/*.test.ts` or `**/{a,b}.md`.',
        },
        path: { type: 'string', description: 'Directory to search in. Defaults to the working directory.' },
      },
      required: ['pattern'],
    },
    output: {
      schema: {
        type: 'object',
        properties: { root: { type: 'string' }, paths: { type: 'array', items: { type: 'string' } } },
        required: ['root', 'paths'],
      },
      render: (_args, value) => [{ type: 'text', text: renderGlob(page(value), value.saved, value.notes ?? []) }],
      presentationMeta: (_args, value) => pathsMeta(page(value).shown, value.paths.length, config.searchMetaMaxBytes),
    },
    nullIsAbsent: true,
    isConcurrencySafe: () => true,
    timeoutMs: config.timeoutMs,
    async execute(args, exec) {
      if (args.pattern.trim() === '') throw new Error('pattern must be a non-empty string')
      requirePath(args.path)
      const found = await find(args, exec, deps)
      const root = args.path === undefined ? '.' : displayPath(args.path, searchCwd(exec))
      const { paths, notes } = found
      const over = paths.length > config.globMaxResults
      const saved = over ? await deps.save(`${paths.join('\n')}\n`, exec) : undefined
      return { root, paths, ...(saved === undefined ? {} : { saved }), ...(notes.length === 0 ? {} : { notes }) }
    },
  }
}

interface Found {
  readonly paths: readonly string[]
  readonly notes: readonly string[]
}

async function find(args: GlobArgs, exec: ToolExecution, deps: SearchDeps): Promise<Found> {
  const cwd = searchCwd(exec)
  const pattern = matchedFrom(args.pattern, cwd)
  const first = await list(pattern, args.path, cwd, exec, deps)
  if (first.paths.length > 0 || args.path === undefined || !isAnchored(pattern)) return first
  // Nothing below the working directory: it may have been meant below the path.
  const below = await list(pattern, undefined, resolve(cwd, args.path), exec, deps).catch(() => undefined)
  if (below === undefined || below.paths.length === 0) return first
  const prefix = args.path.endsWith('/') ? args.path : `${args.path}/`
  return { ...below, paths: below.paths.map((path) => displayPath(prefix + path, cwd)) }
}

async function list(
  pattern: string,
  root: string | undefined,
  cwd: string,
  exec: ToolExecution,
  deps: SearchDeps,
): Promise<Found> {
  const { config } = deps
  const argv = (order: readonly string[]) => [
    '--files',
    '--null',
    `--glob=${pattern}`,
    ...order,
    '--no-ignore',
    '--hidden',
    ...versionControl.flatMap((name) => [`--glob=!**/${name}`, `--glob=!**/${name}/**`]),
    ...(root === undefined ? [] : ['--', root]),
  ]
  const run = (order: readonly string[], deadlineMs: number): Promise<SearchOutput> =>
    search({ tool: 'glob', argv: argv(order), cwd, root, signal: exec.signal, deadlineMs }, deps.processes, config)

  const sortedMs = Math.round(config.softDeadlineMs * sortedShare)
  let output = await run(['--sort=modified'], sortedMs)
  if (output.unfinished) output = await run([], config.softDeadlineMs - sortedMs)
  const hidden = hiddenFilter(deps.hiddenPaths(exec), cwd, root)
  const printed = pathsIn(output.stdout).filter((path) => !hidden?.(path))
  const ordered = output.unfinished ? [...printed].sort() : stableOrder(printed, cwd)
  const notes = [output.unfinished ? unfinishedNote(config.softDeadlineMs) : undefined, skippedNote(output.faults)]
  return {
    paths: ordered.map((path) => displayPath(path, cwd)),
    notes: notes.filter((note) => note !== undefined),
  }
}

/** The last piece is what a stopped run had not finished writing. */
function pathsIn(stdout: string): string[] {
  return stdout.split('\0').slice(0, -1)
}
