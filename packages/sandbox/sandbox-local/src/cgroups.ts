import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Amounts {
  /** Processes and threads of all confined commands together. */
  readonly pids: number
  /** Bytes of all confined commands together. */
  readonly memory: number
}

export interface Cgroups {
  /** Directories that a process joins by writing to their `cgroup.procs`. */
  readonly directories: readonly string[]
  /** What is limited, as readable words. */
  readonly limited: readonly string[]
  /** Resolves when they are gone, or after a second with processes that do not go. */
  remove(): Promise<void>
}

/**
 * Control groups for the commands of this process, where the kernel lets it make some: version 1 has one hierarchy for each
 * controller; in version 2 a group beside this process's own serves both, because a group with processes cannot have
 * groups below it.
 */
export function makeCgroups(amounts: Amounts, system: CgroupSystem = readSystem()): Cgroups {
  const made: string[] = []
  const limited: string[] = []
  for (const { parent, settings } of placesFor(amounts, system)) {
    // A mount can lie hidden under another one: only a real group has this file.
    if (!existsSync(join(parent, 'cgroup.procs'))) continue
    sweep(parent)
    const directory = join(parent, `dsh-${process.pid}`)
    if (!attempt(() => mkdirSync(directory))) continue
    const applied = settings.filter(({ file, value }) => attempt(() => writeFileSync(join(directory, file), value)))
    if (applied.length > 0) {
      made.push(directory)
      limited.push(...applied.map(({ words }) => words))
    } else attempt(() => rmdirSync(directory))
  }
  return { directories: made, limited, remove: async () => void (await Promise.all(made.map(removeSoon))) }
}

export interface CgroupSystem {
  /** `/proc/self/cgroup`. */
  readonly own: string
  /** `/proc/self/mountinfo`. */
  readonly mounts: string
}

interface Place {
  readonly parent: string
  readonly settings: readonly { readonly file: string; readonly value: string; readonly words: string }[]
}

export function placesFor({ pids, memory }: Amounts, system: CgroupSystem): Place[] {
  const processes = (file: string) => ({ file, value: String(pids), words: `${pids} processes` })
  const bytes = (file: string) => ({
    file,
    value: String(memory),
    words: `${Math.round(memory / 2 ** 20)} MiB of memory`,
  })
  const one = ownPaths(system.own)
  const places: Place[] = []
  for (const { root, options, type } of cgroupMounts(system.mounts)) {
    const own = (name: string) => join(root, one.get(name) ?? '/')
    if (type === 'cgroup2' && one.has('')) {
      const here = own('')
      const parent = here === root ? root : dirname(here)
      places.push({ parent, settings: [processes('pids.max'), bytes('memory.max')] })
    } else if (options.includes('pids') && one.has('pids'))
      places.push({ parent: own('pids'), settings: [processes('pids.max')] })
    else if (options.includes('memory') && one.has('memory'))
      places.push({ parent: own('memory'), settings: [bytes('memory.limit_in_bytes')] })
  }
  return places
}

/** Controller (`''` in version 2) to the path below its mount. */
function ownPaths(text: string): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (path !== undefined) for (const name of (controllers ?? '').split(',')) paths.set(name, path)
  }
  return paths
}

function cgroupMounts(text: string): { root: string; type: string; options: string[] }[] {
  return text.split('\n').flatMap((line) => {
    const [before, after] = line.split(' - ')
    const [type, , options] = after?.split(' ') ?? []
    const root = before?.split(' ')[4]
    if (root === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return []
    return [{ root, type, options: (options ?? '').split(',') }]
  })
}

function readSystem(): CgroupSystem {
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return ''
    }
  }
  return { own: read('/proc/self/cgroup'), mounts: read('/proc/self/mountinfo') }
}

/** What earlier runs left because they were killed. */
function sweep(parent: string): void {
  attempt(() => {
    for (const name of readdirSync(parent)) {
      const pid = /^dsh-(\d+)$/.exec(basename(name))?.[1]
      if (pid !== undefined && !isAlive(Number(pid))) remove(join(parent, name))
    }
  })
}

/** A group is busy until its last process has been waited for. */
async function removeSoon(directory: string): Promise<void> {
  for (let tries = 0; tries < 20 && !remove(directory); tries++) await sleep(50)
}

function remove(directory: string): boolean {
  attempt(() => writeFileSync(join(directory, 'cgroup.kill'), '1'))
  return attempt(() => rmdirSync(directory)) || !existsSync(directory)
}

function isAlive(pid: number): boolean {
  return attempt(() => process.kill(pid, 0))
}

function attempt(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
