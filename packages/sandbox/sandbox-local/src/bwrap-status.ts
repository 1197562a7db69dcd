import { readFileSync } from 'node:fs'

export interface RunnerStatus {
  readonly ran: boolean
  readonly exitCode?: number
  readonly innerPid?: number
}

/** What `--json-status-fd` told: an exit code is there only if the command itself ran. */
export function bwrapStatus(text: string): RunnerStatus {
  let pid: number | undefined
  let exitCode: number | undefined
  for (const line of text.split('\n')) {
    const record = parse(line)
    if (typeof record['child-pid'] === 'number') pid = record['child-pid']
    if (typeof record['exit-code'] === 'number') exitCode = record['exit-code']
  }
  if (exitCode !== undefined) return { ran: true, exitCode }
  return { ran: false, ...(pid === undefined ? {} : { innerPid: firstChild(pid) ?? pid }) }
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** bubblewrap's own first process shrugs off TERM; the command is its child. */
function firstChild(pid: number): number | undefined {
  try {
    const child = Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10)
    return Number.isNaN(child) ? undefined : child
  } catch {
    return undefined
  }
}
