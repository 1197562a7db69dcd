import { setTimeout as sleep } from 'node:timers/promises'
import { descendants, groupAlive, readProcess, signalTo } from './process-table.ts'

const pollMs = 15
/** How long a runner gets to report the death of what it ran before it is killed itself. */
const reportMs = 250

/** What `terminate` needs to know of a process; `pid` is also the number of its group. */
export interface Terminable {
  readonly pid: number
  readonly graceMs: number
  /** The first process inside a runner, once the runner has named it. */
  readonly innerPid: () => number | undefined
  readonly exited: () => boolean
}

/** TERM, the grace, KILL. Inside a runner TERM goes past it, so that the command can clean up and the runner report. */
export async function terminateTree(target: Terminable): Promise<void> {
  const inner = target.innerPid()
  const tree = identify(inner === undefined ? descendants(target.pid) : [inner, ...descendants(inner)])
  const gone = () => target.exited() && !groupAlive(target.pid) && !tree.some(isAlive)

  if (inner === undefined) signalTo(-target.pid, 'SIGTERM')
  else for (const { pid } of tree) signalTo(pid, 'SIGTERM')
  if (await within(target.graceMs, gone)) return

  if (inner !== undefined) {
    signalTo(inner, 'SIGKILL')
    if (await within(reportMs, gone)) return
  }
  signalTo(-target.pid, 'SIGKILL')
  for (const member of tree) if (isAlive(member)) signalTo(member.pid, 'SIGKILL')
  await within(target.graceMs, gone)
}

/** A process as it was when seen: a number that was given to another one since is not it. */
export interface Identity {
  readonly pid: number
  readonly started: string
}

export function identify(pids: readonly number[]): Identity[] {
  return pids.flatMap((pid) => {
    const entry = readProcess(pid)
    return entry === undefined ? [] : [{ pid, started: entry.started }]
  })
}

export function isAlive(identity: Identity): boolean {
  const entry = readProcess(identity.pid)
  return entry !== undefined && entry.started === identity.started && !entry.zombie
}

async function within(ms: number, done: () => boolean): Promise<boolean> {
  const deadline = performance.now() + ms
  while (!done()) {
    if (performance.now() >= deadline) return false
    await sleep(pollMs)
  }
  return true
}
