import type { SavedList } from './saved-list.ts'

export interface GlobPage {
  readonly shown: readonly string[]
  readonly total: number
  /** Set when the page was sampled: how many top-level entries it shows, of how many. */
  readonly sampled?: { readonly shown: number; readonly total: number }
}

/** The paths that go to the model: the first in order, or a sample of every top-level entry. */
export function globPage(paths: readonly string[], max: number, sample: boolean, root: string): GlobPage {
  const total = paths.length
  if (total <= max || !sample) return { shown: paths.slice(0, max), total }
  const groups = groupByTop(paths, root)
  if (groups.length === total) return { shown: paths.slice(0, max), total }
  const taken = groups.map(() => 0)
  for (let left = max; left > 0; ) {
    for (let index = 0; index < groups.length && left > 0; index++) {
      if ((taken[index] as number) < (groups[index] as string[]).length) {
        taken[index] = (taken[index] as number) + 1
        left--
      }
    }
  }
  return {
    shown: groups.flatMap((group, index) => group.slice(0, taken[index])),
    total,
    sampled: { shown: taken.filter((count) => count > 0).length, total: groups.length },
  }
}

/** In the order in which each top-level entry was first seen. */
function groupByTop(paths: readonly string[], root: string): string[][] {
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    const below = root === '.' ? path.replace(/^\.\//, '') : path.startsWith(root) ? path.slice(root.length) : path
    const top = below.replace(/^\/+/, '').split('/')[0] as string
    const group = groups.get(top)
    if (group === undefined) groups.set(top, [path])
    else group.push(path)
  }
  return [...groups.values()]
}

export function renderGlob(page: GlobPage, saved: SavedList | undefined, notes: readonly string[]): string {
  const parts = [page.total === 0 ? 'No files found' : page.shown.join('\n')]
  if (page.total > page.shown.length) parts.push(`(${overCap(page, saved)})`)
  return [...parts, ...notes].join('\n\n')
}

function overCap(page: GlobPage, saved: SavedList | undefined): string {
  const rest =
    saved === undefined
      ? 'The complete result could not be saved; narrow pattern or path to see more.'
      : `Full sorted result stored at: ${saved.locator}. ${saved.hint}`
  const showing = `Showing ${page.shown.length} of ${page.total} paths`
  if (page.sampled === undefined) return `${showing}. ${rest}`
  const { shown, total } = page.sampled
  const narrow = shown < total ? ' Narrow path to inspect a specific subtree.' : ''
  return `${showing}, sampled across ${shown} of the ${total} top-level entries this pattern matched instead of taken in modification-time order.${narrow} ${rest}`
}
