import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises'
import type { RunningProcess, SettledProcess, SpawnSpec } from '@dsh/subprocess'
import type { OwnedGroups } from './owned-groups.ts'
import { type Pipe, type PipePool, readPipe } from './pipe-pool.ts'
import { StreamCollector } from './stream-collector.ts'
import { terminateTree } from './terminate.ts'

/** After the process is gone, a pipe that somebody else holds is read until it is silent for `idle`, at most `max`. */
const drain = { idleMs: 150, maxMs: 1000, pollMs: 25 }
const maxStatusChars = 65_536

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Starts a process as the leader of a new session and group, and collects what it says until it settles. */
export async function spawnProcess(spec: SpawnSpec, owned: OwnedGroups, pipes: PipePool): Promise<RunningProcess> {
  const startedAt = performance.now()
  const [out, err] = (await pipes.take(2)) ?? []
  const env = { ...spec.env, ...(spec.endDetached === true ? owned.markOf() : {}) }
  const { child, settleEnds } = launch({ ...spec, env }, out, err)
  let exit: Exit | undefined
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal }
      resolve(exit)
    })
  })
  const pid = await whenSpawned(child).finally(settleEnds)

  const stdout = new StreamCollector(
    out === undefined ? (child.stdout as Readable) : readPipe(out.read),
    'stdout',
    spec,
  )
  const stderr = new StreamCollector(
    err === undefined ? (child.stderr as Readable) : readPipe(err.read),
    'stderr',
    spec,
  )
  const status = collectText(spec.statusFd === undefined ? undefined : (child.stdio[spec.statusFd] as Readable))
  feed(child, spec.stdin)

  let terminating: Promise<void> | undefined
  const terminate = (): Promise<void> => {
    terminating ??= terminateTree({
      pid,
      graceMs: spec.graceMs,
      innerPid: () => spec.innerPid?.(status.text()),
      exited: () => exit !== undefined,
    })
    return terminating
  }
  owned.add(pid, terminate)

  const settle = async (): Promise<SettledProcess> => {
    const { code, signal } = await exited
    await drained(Promise.all([stdout.closed, stderr.closed, status.closed]), () =>
      Math.max(stdout.lastDataAt, stderr.lastDataAt),
    )
    owned.settle(pid, spec.statusFd !== undefined)
    return {
      exitCode: code,
      signal,
      stdout: stdout.settle(),
      stderr: stderr.settle(),
      status: status.text(),
      durationMs: performance.now() - startedAt,
    }
  }

  return {
    pid,
    done: settle(),
    readDelta: () => {
      const out = stdout.read()
      const err = stderr.read()
      return {
        stdout: out.text,
        stderr: err.text,
        dropped: out.dropped || err.dropped,
        spillPaths: [stdout.spillPath, stderr.spillPath].filter((path) => path !== undefined),
      }
    },
    terminate,
  }
}

function launch(spec: SpawnSpec, out: Pipe | undefined, err: Pipe | undefined) {
  let spawned = false
  /** Our copies of the writing ends go, so that the streams end with the child's; all ends go if there is no child. */
  const settleEnds = () => {
    for (const pipe of [out, err]) {
      if (pipe === undefined) continue
      closeSync(pipe.write)
      if (!spawned) closeSync(pipe.read)
    }
  }
  try {
    const child = spawn(spec.argv[0] as string, spec.argv.slice(1), {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: descriptors(spec, out?.write ?? 'pipe', err?.write ?? 'pipe'),
    })
    child.once('spawn', () => {
      spawned = true
    })
    return { child, settleEnds }
  } catch (error) {
    settleEnds()
    throw error
  }
}

function descriptors(spec: SpawnSpec, out: number | 'pipe', err: number | 'pipe'): (number | 'pipe' | 'ignore')[] {
  const stdio: (number | 'pipe' | 'ignore')[] = [spec.stdin === undefined ? 'ignore' : 'pipe', out, err]
  if (spec.statusFd === undefined) return stdio
  while (stdio.length < spec.statusFd) stdio.push('ignore')
  stdio[spec.statusFd] = 'pipe'
  return stdio
}

function whenSpawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => {
      child.off('error', reject)
      child.on('error', () => {})
      resolve(child.pid as number)
    })
  })
}

function feed(child: ChildProcess, input: string | undefined): void {
  if (input === undefined || child.stdin === null) return
  // A child that does not read its input closes the pipe; that is its business.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
}

function collectText(stream: Readable | undefined): { readonly text: () => string; readonly closed: Promise<void> } {
  if (stream === undefined) return { text: () => '', closed: Promise.resolve() }
  let text = ''
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  stream.on('data', (chunk: string) => {
    if (text.length < maxStatusChars) text += chunk
  })
  return { text: () => text, closed: new Promise((resolve) => stream.once('close', resolve)) }
}

async function drained(closed: Promise<unknown>, lastDataAt: () => number): Promise<void> {
  const from = performance.now()
  let open = true
  const ended = closed.then(() => {
    open = false
  })
  while (open) {
    await Promise.race([ended, sleep(drain.pollMs, undefined, { ref: false })])
    if (!open) return
    // Timers run before pipes are read: after a time in which this process was busy, what lies in them comes first.
    await afterReading()
    const now = performance.now()
    if (now - from >= drain.maxMs || now - Math.max(from, lastDataAt()) >= drain.idleMs) return
  }
}
