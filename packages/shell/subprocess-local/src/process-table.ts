import { readdirSync, readFileSync } from 'node:fs'

/** One line of the kernel's process table. Linux only: elsewhere the table reads as empty. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly zombie: boolean
  /** Ticks since boot: with the pid, the identity of a process. */
  readonly started: string
}

export function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything; the fields after the last ")" are plain.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, parent, group] = fields
    return { pid, parent: Number(parent), group: Number(group), zombie: state === 'Z', started: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

export function listProcesses(): ProcessEntry[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  const entries: ProcessEntry[] = []
  for (const name of names) {
    const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined
    if (entry !== undefined) entries.push(entry)
  }
  return entries
}

/** Living processes below `root`, which is not among them. */
export function descendants(root: number, table: readonly ProcessEntry[] = listProcesses()): number[] {
  const found: number[] = []
  const parents = new Set([root])
  for (let grew = true; grew; ) {
    grew = false
    for (const entry of table) {
      if (parents.has(entry.pid) || !parents.has(entry.parent)) continue
      parents.add(entry.pid)
      if (!entry.zombie) found.push(entry.pid)
      grew = true
    }
  }
  return found
}

/** Living members of a process group. */
export function groupMembers(group: number): ProcessEntry[] {
  if (!groupExists(group)) return []
  return listProcesses().filter((entry) => entry.group === group && !entry.zombie)
}

/** A zombie that nobody reaps keeps its group's number in use: such a group counts as gone. */
export function groupAlive(group: number): boolean {
  return groupExists(group) && (process.platform !== 'linux' || groupMembers(group).length > 0)
}

/** Processes that were started with this entry (`NAME=value`) in their environment. */
export function processesWith(entry: string): number[] {
  return listProcesses()
    .filter(({ pid, zombie }) => pid !== process.pid && !zombie && environmentOf(pid).split('\0').includes(entry))
    .map(({ pid }) => pid)
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** Sends a signal to a process, or to a group when `pid` is negative; false when there is nothing to receive it. */
export function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

export function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
