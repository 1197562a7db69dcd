import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { Amounts } from './cgroups.ts'
import { makeCgroups } from './cgroups.ts'

export interface ResourceLimits {
  /** Puts a runner's command line behind what applies the limits to it. */
  wrap(argv: readonly string[]): readonly string[]
  /** One line for people. */
  readonly words: string
  remove(): Promise<void>
}

export interface LimitConfig {
  readonly pids: number
  /** Share of the machine's memory. */
  readonly memoryShare: number
}

/**
 * Bounds on what all confined commands use together: by control groups where they can be made; else, for everybody but
 * root, whom the kernel exempts, by the number of processes of this person.
 */
export function applyLimits(config: LimitConfig, shell: string): ResourceLimits {
  const amounts: Amounts = { pids: config.pids, memory: Math.floor(totalmem() * config.memoryShare) }
  const groups = makeCgroups(amounts)
  if (groups.directories.length > 0)
    return {
      wrap: (argv) => [shell, '-c', joinGroups, 'limits', ...groups.directories, '--', ...argv],
      words: `${groups.limited.join(', ')} (control groups)`,
      remove: groups.remove,
    }
  if (process.geteuid?.() === 0) return { wrap: (argv) => argv, words: 'not limited', remove: async () => {} }
  const most = ownThreads() + config.pids
  return {
    wrap: (argv) => [shell, '-c', limitProcesses, 'limits', String(most), ...argv],
    words: `${most} processes of this person (process limit), memory not limited`,
    remove: async () => {},
  }
}

const joinGroups = 'while [ "$1" != -- ]; do echo 0 2>/dev/null > "$1/cgroup.procs"; shift; done; shift; exec "$@"'

/** bash says -u, dash says -p. A lower limit that is already there stays. */
const limitProcesses = '{ ulimit -u "$1" || ulimit -p "$1"; } 2>/dev/null; shift; exec "$@"'

/** Threads that this person's processes have now: the limit counts them all. */
function ownThreads(): number {
  let threads = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      if (Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) === process.getuid?.())
        threads += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 1)
    } catch {
      // gone meanwhile
    }
  }
  return threads
}
