import type { Dropped } from './scan.ts'

/** One line about a tail that was cut off the log at `path`, or left out of a copy of it. */
export function droppedText(id: string, dropped: Dropped, path: string, how: { kept?: string; copy?: string }): string {
  const one = dropped.lines === 1
  const what = `line ${dropped.line} of its log${one ? '' : ` and ${dropped.lines - 1} more`}`
  const were = one ? 'was' : 'were'
  const why = `session "${id}": ${what} ${were} not readable (${dropped.why}) and ${were}`
  if (how.copy !== undefined) return `${why} left out of the copy "${how.copy}"; the log is ${path}`
  if (how.kept === undefined) return `${why} cut off: ${dropped.bytes} bytes of ${path}`
  return `${why} cut off ${path}; ${one ? 'it is' : 'they are'} kept in ${how.kept}`
}
