import { cutUtf8End } from '@dsh/core'
import type { GrepMatch } from './grep-records.ts'
import type { SavedList } from './saved-list.ts'

/** In path order, lines ascending; ripgrep searches files in whatever order its threads take them. */
export function inPathOrder(matches: readonly GrepMatch[]): GrepMatch[] {
  const byPath = new Map<string, GrepMatch[]>()
  for (const match of matches) {
    const group = byPath.get(match.path)
    if (group === undefined) byPath.set(match.path, [match])
    else group.push(match)
  }
  return [...byPath.keys()].sort().flatMap((path) => byPath.get(path) as GrepMatch[])
}

export function preview(line: string, maxBytes: number): string {
  const cut = cutUtf8End(line, maxBytes)
  return cut === line ? line : `${cut} (line truncated)`
}

/** Header and blocks of matches whose lines are previews already. */
export function renderMatches(matches: readonly GrepMatch[], total: number): string {
  const header =
    matches.length < total
      ? `Found ${matches.length} of ${total} matches`
      : `Found ${total} ${total === 1 ? 'match' : 'matches'}`
  const blocks: string[] = []
  let rows: string[] = []
  let path: string | undefined
  for (const match of matches) {
    if (match.path !== path) {
      if (path !== undefined) blocks.push(rows.join('\n'))
      path = match.path
      rows = [path]
    }
    rows.push(`Line ${match.lineNumber}: ${match.line}`)
  }
  if (path !== undefined) blocks.push(rows.join('\n'))
  return [header, ...blocks].join('\n\n')
}

/** As many leading matches as both caps allow, at least one. */
export function firstPage(matches: readonly GrepMatch[], maxMatches: number, maxBytes: number): readonly GrepMatch[] {
  let bytes = 0
  let path: string | undefined
  let count = 0
  for (const match of matches) {
    bytes += Buffer.byteLength(match.line) + 16 + (match.path === path ? 0 : Buffer.byteLength(match.path) + 2)
    path = match.path
    if (count >= maxMatches || (count > 0 && bytes > maxBytes)) break
    count++
  }
  return matches.slice(0, count)
}

export function renderGrep(
  shown: readonly GrepMatch[],
  total: number,
  saved: SavedList | undefined,
  notes: readonly string[],
): string {
  const parts = [total === 0 ? 'No matches found' : renderMatches(shown, total)]
  if (shown.length < total)
    parts.push(
      saved === undefined
        ? '(The complete result could not be saved; narrow pattern, path, or include to see more.)'
        : `(Full grep result stored at: ${saved.locator}. ${saved.hint})`,
    )
  return [...parts, ...notes].join('\n\n')
}
