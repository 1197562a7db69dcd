import type { GrepMatch } from './grep-records.ts'

/** Facts for surfaces, cut at their end until they fit; at least one entry stays. */
export function pathsMeta(paths: readonly string[], total: number, maxBytes: number) {
  const kept = fitting(paths, (path) => JSON.stringify(path), maxBytes)
  return { shape: 'paths', paths: kept, truncated: kept.length < total, total }
}

export function matchesMeta(matches: readonly GrepMatch[], total: number, maxBytes: number) {
  const files: { path: string; matches: { lineNumber: number; line: string }[] }[] = []
  for (const { path, lineNumber, line } of matches) {
    const last = files.at(-1)
    if (last?.path === path) last.matches.push({ lineNumber, line })
    else files.push({ path, matches: [{ lineNumber, line }] })
  }
  const kept = fitting(files, (file) => JSON.stringify(file), maxBytes)
  const count = kept.reduce((sum, file) => sum + file.matches.length, 0)
  return { shape: 'matches', files: kept, truncated: count < total, total }
}

const frameBytes = 128

function fitting<T>(items: readonly T[], json: (item: T) => string, maxBytes: number): readonly T[] {
  let bytes = frameBytes
  let count = 0
  for (const item of items) {
    bytes += Buffer.byteLength(json(item)) + 1
    if (bytes > maxBytes && count > 0) break
    count++
  }
  return items.slice(0, count)
}
