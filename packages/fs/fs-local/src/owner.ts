import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '@dsh/core'

/** A process, told apart from a later one with the same number by its start time. */
export interface Owner {
  readonly pid: number
  readonly started: string
  readonly host: string
  /** Unique per process and backend; part of every staging name. */
  readonly token: string
  /** How it is written into lock and journal files. */
  readonly text: string
}

export function thisOwner(): Owner {
  const pid = process.pid
  const started = startOf(pid) ?? ''
  const host = hostname()
  const token = `${pid}-${randomBytes(5).toString('hex')}`
  return { pid, started, host, token, text: `${[pid, started, host, token].join(' ')}\n` }
}

export function parseOwner(text: string): Owner | undefined {
  const match = /^(\d+) (\d*) (\S+) (\S+)\n/.exec(text)
  if (match === null) return undefined
  const [line, pid, started, host, token] = match as unknown as [string, string, string, string, string]
  return { pid: Number(pid), started, host, token, text: line }
}

/** A process of another host cannot be examined and counts as alive. */
export function isAlive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false
  }
  const started = startOf(owner.pid)
  return started === undefined || owner.started === '' || started === owner.started
}

/** Clock ticks after boot, from /proc; undefined where there is none. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
