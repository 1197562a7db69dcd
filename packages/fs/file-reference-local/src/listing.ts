import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { compare } from './score.ts'
import type { FileReference } from './types.ts'

/** What cannot stand behind `@` unambiguously is not offered. */
function isOffered(name: string): boolean {
  return !/[\p{Cc}"]/u.test(name)
}

/** Breadth first, so that a full index holds what lies near the root. Links are not followed. */
export async function indexTree(
  root: string,
  excluded: ReadonlySet<string>,
  maxEntries: number,
  signal?: AbortSignal,
): Promise<readonly FileReference[]> {
  const entries: FileReference[] = []
  const queue = ['']
  for (let next = queue.shift(); next !== undefined && entries.length < maxEntries; next = queue.shift()) {
    signal?.throwIfAborted()
    for (const entry of await entriesOf(join(root, next))) {
      if (entries.length >= maxEntries) break
      if (!isOffered(entry.name) || entry.isSymbolicLink() || excluded.has(entry.name)) continue
      const path = next === '' ? entry.name : `${next}/${entry.name}`
      entries.push({ path, directory: entry.isDirectory() })
      if (entry.isDirectory()) queue.push(path)
    }
  }
  return entries
}

/** The entries of the directory that a query with a slash is in, as they are now. */
export async function listLive(
  root: string,
  query: string,
  excluded: ReadonlySet<string>,
  max: number,
): Promise<readonly FileReference[]> {
  const asked = query.replaceAll('\\', '/')
  const cut = asked.lastIndexOf('/')
  const [directory, fragment] = [asked.slice(0, Math.max(0, cut)), asked.slice(cut + 1)]
  if (asked.startsWith('/') || directory.split('/').some((part) => part === '..' || excluded.has(part))) return []
  const place = join(root, directory)
  if (!(await isInside(root, place))) return []
  const wanted = fragment.toLowerCase()
  return (await entriesOf(place))
    .filter((entry) => isOffered(entry.name) && !excluded.has(entry.name) && !entry.isSymbolicLink())
    .filter((entry) => fragment.startsWith('.') || !entry.name.startsWith('.'))
    .filter((entry) => entry.name.toLowerCase().startsWith(wanted))
    .map((entry) => ({
      path: directory === '' ? entry.name : `${directory}/${entry.name}`,
      directory: entry.isDirectory(),
    }))
    .sort(compare)
    .slice(0, max)
}

/** Its real place is where its name says: no link on the way. */
async function isInside(root: string, place: string): Promise<boolean> {
  try {
    const [realRoot, real] = [await realpath(root), await realpath(place)]
    return real === join(realRoot, place.slice(root.length).replace(/\/+$/, '')) || real + sep === realRoot + sep
  } catch {
    return false
  }
}

/** A directory that cannot be read has nothing to offer. */
async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  } catch {
    return []
  }
}
