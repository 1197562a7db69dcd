import { lstatSync } from 'node:fs'
import { resolve } from 'node:path'

const most = 5000

/** Oldest first is ripgrep's order; equal times get the order of their names, so that a result is always the same. */
export function stableOrder(paths: readonly string[], cwd: string): readonly string[] {
  if (paths.length < 2 || paths.length > most) return paths
  const times = new Map<string, bigint>()
  for (const path of paths) {
    const stat = lstatSync(resolve(cwd, path), { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return paths
    times.set(path, stat.mtimeNs)
  }
  return [...paths].sort((a, b) => {
    const [x, y] = [times.get(a) as bigint, times.get(b) as bigint]
    return x < y ? -1 : x > y ? 1 : a < b ? -1 : 1
  })
}
