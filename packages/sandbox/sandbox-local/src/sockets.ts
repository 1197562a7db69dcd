import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Area, accessAt, canonical, isWithin } from '@dsh/sandbox'
import type { MaskedSockets } from './mount-plan.ts'

export interface SocketSearch {
  /** Directories that are searched for sockets of other network namespaces, which the kernel's list does not name. */
  readonly searched: readonly string[]
  /** Sockets that stay reachable, or directories of such. */
  readonly allowed: readonly string[]
  /** Directories whose sockets are the project's own. */
  readonly own: readonly string[]
  /** Directories that are masked as a whole where they hold sockets. */
  readonly maskWhole: readonly string[]
  /** Never masked as a whole, because a command works in them. */
  readonly needed: readonly string[]
  readonly areas: readonly Area[]
}

const depthLimit = 2
const entryLimit = 2000

/**
 * Sockets that a command could open by their path, and that lead out of the confinement: an ssh agent, a container
 * engine, a terminal multiplexer, a desktop bus.
 */
export async function findSockets(search: SocketSearch): Promise<MaskedSockets> {
  const directories = new Set<string>()
  const files = new Set<string>()
  const found = [...(await boundSockets()), ...search.searched.flatMap(listSockets)]
  for (const path of new Set(found)) {
    if (search.allowed.some((root) => isWithin(root, path)) || search.own.some((root) => isWithin(root, path))) continue
    if (accessAt(search.areas, path) === 'none' || !isSocket(path)) continue
    const whole = dirname(path)
    const below = search.maskWhole.some((root) => whole !== root && isWithin(root, whole))
    if (below && !search.needed.some((root) => isWithin(whole, root))) directories.add(whole)
    else files.add(path)
  }
  const outermost = [...directories].filter(
    (path) => ![...directories].some((other) => other !== path && isWithin(other, path)),
  )
  return { directories: outermost, files: [...files].filter((path) => !outermost.some((root) => isWithin(root, path))) }
}

/** Every socket with a path that is bound in this network namespace. */
async function boundSockets(): Promise<string[]> {
  let text: string
  try {
    text = await readFile('/proc/net/unix', 'utf8')
  } catch {
    return []
  }
  const paths: string[] = []
  const real = new Map<string, string>()
  for (const line of text.split('\n')) {
    const path = /^[0-9a-f]+: (?:\S+ ){5} *\d+ (\/.*)$/i.exec(line)?.[1]
    if (path === undefined) continue
    const directory = real.get(dirname(path)) ?? canonical(dirname(path))
    real.set(dirname(path), directory)
    paths.push(join(directory, basename(path)))
  }
  return paths
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket()
  } catch {
    return false
  }
}

/** Synchronous: hundreds of small reads, each of which would wait for a thread otherwise (measured: five times slower). */
function listSockets(root: string): string[] {
  const found: string[] = []
  let seen = 0
  let level = [root]
  for (let depth = 0; depth < depthLimit && level.length > 0; depth++) {
    const next: string[] = []
    for (const directory of level) {
      const listing = listingOf(directory)
      seen += listing.size
      if (seen > entryLimit) return found
      found.push(...listing.sockets)
      next.push(...listing.directories)
    }
    level = next
  }
  return found
}

interface Listing {
  readonly changed: number
  readonly size: number
  readonly sockets: readonly string[]
  readonly directories: readonly string[]
}

/** Directories do not change much between two commands. */
const listings = new Map<string, Listing>()
/** The kernel's clock is coarse: what changed just now may change again within the same tick. */
const settledMs = 100

function listingOf(directory: string): Listing {
  const nothing = { changed: 0, size: 0, sockets: [], directories: [] }
  try {
    const changed = statSync(directory).mtimeMs
    const known = listings.get(directory)
    if (known?.changed === changed) return known
    const entries = readdirSync(directory, { withFileTypes: true })
    const named = (test: (entry: Dirent) => boolean) => entries.filter(test).map(({ name }) => join(directory, name))
    const listing = {
      changed,
      size: entries.length,
      sockets: named((entry) => entry.isSocket()),
      directories: named((entry) => entry.isDirectory()),
    }
    if (listings.size > entryLimit) listings.clear()
    if (Date.now() - changed > settledMs) listings.set(directory, listing)
    return listing
  } catch {
    return nothing
  }
}
