import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readlink, realpath, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '@dsh/core'
import { canonical, isWithin, type SandboxPolicy, tempRoots } from '@dsh/sandbox'

/** What was found by running the profile itself. */
export interface Verdict {
  readonly usable: boolean
  /** Why it is not usable, in one line. */
  readonly detail: string
  /** Escapes that worked, as readable phrases. */
  readonly holes: readonly string[]
}

/** A command line that confines `command` under `policy`; from the rung that is probed. */
export type Confiner = (
  policy: SandboxPolicy,
  cwd: string,
  command: readonly string[],
) => Promise<{
  readonly argv: readonly string[]
  readonly statusFd: number
  readonly ran: (status: string) => boolean
}>

export interface ProbeOptions {
  /** A directory outside every temporary directory, where the probe makes its own. */
  readonly scratch: string
  readonly shell: string
  readonly timeoutMs: number
  /** Whether commands get a view of the processes of their own. */
  readonly pidNamespace: boolean
  readonly confine: Confiner
}

/**
 * Runs the workspace-write profile on a scratch workspace, works in it, and tries to get out. The attempts change nothing
 * that matters where they succeed: a file in the scratch directory, a switch opened and left alone.
 */
export async function probe(options: ProbeOptions): Promise<Verdict> {
  let directory: string | undefined
  try {
    await mkdir(options.scratch, { recursive: true, mode: 0o700 })
    directory = await realpath(await mkdtemp(join(options.scratch, 'probe-')))
    const root = join(directory, 'root')
    const outside = join(directory, 'outside')
    for (const path of [root, outside]) await mkdir(path)
    await chmod(directory, 0o755)
    const policy: SandboxPolicy = { mode: 'workspace-write', workspaceRoot: root }
    const confined = await options.confine(policy, root, [options.shell, '-c', attempts, 'probe', outside])
    const run = await execute(confined.argv, root, confined.statusFd, options.timeoutMs)
    const said = run.stdout.split('\n')
    if (!said.includes('done') || !confined.ran(run.status)) return unusable(run.problem ?? lastLine(run.stderr))
    if (!said.includes(`cwd ${root}`) || !said.includes('inside written'))
      return unusable('the workspace is not writable')
    return { usable: true, detail: 'usable', holes: await holes(said, join(outside, 'f'), options.pidNamespace) }
  } catch (error) {
    return unusable(errorText(error))
  } finally {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
    await rmdir(options.scratch).catch(() => undefined)
  }
}

/** POSIX shell. `$1` lies outside the workspace. */
const attempts = `
echo "cwd $(pwd -P)"
echo x > inside 2>/dev/null && echo "inside written"
(echo x > "$1/f") 2>/dev/null
mount -o remount,rw,bind / 2>/dev/null
mount -o remount,rw / 2>/dev/null
(echo x > "$1/f") 2>/dev/null
umount -l / 2>/dev/null
(: >> /proc/sys/vm/swappiness) 2>/dev/null && echo "sysctl opened"
while read -r key value; do [ "$key" = CapEff: ] && echo "capabilities $value"; done < /proc/self/status
echo "pidns $(readlink /proc/self/ns/pid)"
echo done
`

const dangerousCapabilities: Readonly<Record<number, string>> = {
  12: 'network administration',
  16: 'loading kernel modules',
  17: 'raw device access',
  19: 'tracing other processes',
  21: 'mounting',
  22: 'rebooting',
  27: 'making device nodes',
}

async function holes(said: readonly string[], outside: string, pidNamespace: boolean): Promise<string[]> {
  const found: string[] = []
  const allowed = tempRoots().some((root) => isWithin(root, canonical(dirname(outside))))
  if (!allowed && (await readFile(outside).catch(() => undefined)) !== undefined)
    found.push('writes outside the workspace')
  if (process.geteuid?.() === 0 && said.includes('sysctl opened')) found.push('kernel settings in /proc/sys')
  if (pidNamespace) {
    const capabilities = BigInt(`0x${wordAfter(said, 'capabilities') ?? '0'}`)
    for (const [bit, name] of Object.entries(dangerousCapabilities))
      if ((capabilities >> BigInt(bit)) & 1n) found.push(`root’s power of ${name}`)
    if (wordAfter(said, 'pidns') === (await readlink('/proc/self/ns/pid').catch(() => '')))
      found.push('other processes')
  }
  return found
}

function wordAfter(said: readonly string[], key: string): string | undefined {
  return said.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1)
}

function unusable(detail: string): Verdict {
  return { usable: false, detail: detail === '' ? 'it did not run the command' : detail, holes: [] }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

interface ProbeRun {
  readonly stdout: string
  readonly stderr: string
  readonly status: string
  readonly problem?: string
}

function execute(argv: readonly string[], cwd: string, statusFd: number, timeoutMs: number): Promise<ProbeRun> {
  const [program, ...args] = argv as [string, ...string[]]
  return new Promise((resolve) => {
    const stdio = Array.from({ length: statusFd + 1 }, (_, fd): 'ignore' | 'pipe' =>
      fd === 0 || (fd > 2 && fd < statusFd) ? 'ignore' : 'pipe',
    )
    const child = spawn(program, args, { stdio, cwd, env: { PATH: process.env['PATH'] }, detached: true })
    const text = { stdout: '', stderr: '', status: '' }
    const collect = (fd: number, key: keyof typeof text) =>
      child.stdio[fd]?.on('data', (chunk: Buffer) => {
        text[key] += chunk.toString()
      })
    collect(1, 'stdout')
    collect(2, 'stderr')
    collect(statusFd, 'status')
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      resolve({ ...text, problem: `no answer within ${timeoutMs} ms` })
    }, timeoutMs)
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve({ ...text, problem: errorText(error) })
    })
    child.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}
