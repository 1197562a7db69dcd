import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Number of the `read` system call. */
const readCall: { readonly [arch: string]: string } = { x64: '0', arm64: '63' }

/**
 * The process below `root` (or `root` itself) that is blocked reading from its terminal: a program that asks
 * something. Linux only; elsewhere nobody is ever found and a call just waits.
 */
export function terminalReader(root: number): number | undefined {
  return family(root).find(readsTerminal)
}

function readsTerminal(pid: number): boolean {
  try {
    const [call, fd = ''] = readFileSync(`/proc/${pid}/syscall`, 'latin1').split(' ')
    if (call !== readCall[process.arch]) return false
    return /^\/dev\/(pts\/|tty|console)/.test(readlinkSync(`/proc/${pid}/fd/${Number(fd)}`))
  } catch {
    return false
  }
}

function family(root: number): number[] {
  const found: number[] = []
  const queue = [root]
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    found.push(pid)
    queue.push(...childrenOf(pid))
  }
  return found
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}
