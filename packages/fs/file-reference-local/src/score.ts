import type { FileReference } from './types.ts'

/** The best `max` entries for a query without a slash. Entries that do not match are left out. */
export function bestMatches(entries: readonly FileReference[], query: string, max: number): readonly FileReference[] {
  const wanted = query.toLowerCase()
  const hiddenToo = query.startsWith('.')
  const scored: { readonly entry: FileReference; readonly score: number }[] = []
  for (const entry of entries) {
    if (!hiddenToo && isHidden(entry.path)) continue
    const score = scoreOf(entry, wanted)
    if (score > 0) scored.push({ entry, score })
  }
  return scored
    .sort((a, b) => b.score - a.score || compare(a.entry, b.entry))
    .slice(0, max)
    .map(({ entry }) => entry)
}

function scoreOf(entry: FileReference, wanted: string): number {
  const path = entry.path.toLowerCase()
  const name = path.slice(path.lastIndexOf('/') + 1)
  const base =
    name === wanted
      ? 1000
      : name.startsWith(wanted)
        ? 900
        : name.includes(wanted)
          ? 700
          : path.includes(wanted)
            ? 500
            : subsequence(path, wanted)
  return base === 0 ? 0 : base + (entry.directory ? 25 : 0)
}

/** All letters in order: fewer letters in between are better. */
function subsequence(path: string, wanted: string): number {
  let at = -1
  let gaps = 0
  for (const letter of wanted) {
    const next = path.indexOf(letter, at + 1)
    if (next === -1) return 0
    if (at !== -1) gaps += next - at - 1
    at = next
  }
  return 300 + Math.max(0, 100 - gaps)
}

function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.')
}

/** Ties: directories first, then the shorter path, then code points. */
export function compare(a: FileReference, b: FileReference): number {
  if (a.directory !== b.directory) return a.directory ? -1 : 1
  return a.path.length - b.path.length || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
}
