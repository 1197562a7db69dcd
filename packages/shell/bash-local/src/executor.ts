import { errorCode } from '@dsh/core'
import type { SandboxMode, SandboxPolicy } from '@dsh/sandbox'
import type { ShellRequest, ShellSpec } from '@dsh/shell'
import { abortedBeforeSpawn, resolveWorkdir, type ShellJob, type ShellOutcome, type ShellService } from '@dsh/shell'
import type { RunningProcess, SubprocessService } from '@dsh/subprocess'
import { arrivalLog } from './arrivals.ts'
import type { ShellConfig } from './config.ts'
import type { Launch, Launcher, Verdict } from './launch.ts'

export interface ExecutorOptions {
  readonly subprocess: SubprocessService
  readonly config: ShellConfig
  /** Absolute. */
  readonly bash: string
  readonly launch: Launcher
  readonly sandboxMode: SandboxMode | undefined
  /** The policy of a request that brings none. */
  readonly defaultPolicy: (base: string | undefined) => SandboxPolicy
  /** Where capture files go; absent = none are kept. */
  readonly captureDir?: string
}

/** What every child sees on top of the scrubbed environment: no colours, no pager, no terminal. */
const fixedEnv = { NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' } as const

type Cause = 'timeout' | 'abort'

export function createExecutor(options: ExecutorOptions): ShellService {
  const { subprocess, config } = options

  async function resolve(request: ShellRequest): Promise<ShellSpec> {
    const policy = request.policy ?? options.defaultPolicy(request.base)
    const workdir = resolveWorkdir(request.workdir, request.base ?? policy.workspaceRoot)
    const asked = request.timeoutMs ?? config.timeoutMs
    return {
      command: request.command,
      workdir,
      timeoutMs: Math.min(asked, config.maxTimeoutMs),
      timeoutClamped: asked > config.maxTimeoutMs,
      env: { ...subprocess.baseEnv(), ...fixedEnv, ...request.env },
      policy,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      ...(request.onData === undefined ? {} : { onData: request.onData }),
    }
  }

  async function spawn(spec: ShellSpec) {
    if (spec.signal?.aborted) throw abortedBeforeSpawn(spec.signal)
    // The last word is $0: messages begin with `bash:`, wherever bash lies.
    const launch = await options.launch([options.bash, '-c', spec.command, 'bash'], spec)
    const arrivals = arrivalLog()
    try {
      const process = await subprocess.spawn({
        argv: launch.argv,
        cwd: spec.workdir,
        env: { ...launch.env, ...spec.env },
        maxOutputBytes: config.maxOutputBytes,
        maxSpillBytes: config.maxSpillBytes,
        graceMs: config.graceMs,
        ...(options.captureDir === undefined ? {} : { captureDir: options.captureDir }),
        ...(launch.endDetached === undefined ? {} : { endDetached: launch.endDetached }),
        ...(launch.statusFd === undefined ? {} : { statusFd: launch.statusFd }),
        ...(launch.innerPid === undefined ? {} : { innerPid: launch.innerPid }),
        onData: (stream, chunk) => {
          arrivals.note(stream, chunk.length)
          spec.onData?.(stream, chunk)
        },
      })
      return { launch, process, arrivals }
    } catch (error) {
      throw launch.spawnFailed(error)
    }
  }

  async function run(spec: ShellSpec): Promise<ShellOutcome> {
    const first = await attempt(spec)
    // What the runner was told to hide may be gone when it starts (a socket of another program). The command has not
    // run, so it is confined anew, once.
    const { outcome, failure } = first.failure === undefined ? first : await again(spec, first.failure)
    if (failure !== undefined) throw failure
    return outcome
  }

  /** Where no rung is left for a second try, the first failure is told: it has the runner's own words. */
  async function again(spec: ShellSpec, failure: unknown) {
    try {
      return await attempt(spec)
    } catch (error) {
      throw errorCode(error) === errorCode(failure) ? failure : error
    }
  }

  async function attempt(spec: ShellSpec) {
    const started = await spawn(spec)
    return await finish(started, spec, stopOn(started.process, spec))
  }

  async function start(spec: ShellSpec): Promise<ShellJob> {
    const started = await spawn(spec)
    let killed = false
    const stopper = { cause: (): Cause | undefined => (killed ? 'abort' : undefined), release: () => {} }
    return {
      done: finish(started, spec, stopper).then(({ outcome }) => outcome),
      readOutput: () => started.process.readDelta(),
      kill: () => {
        killed = true
        void started.process.terminate()
      },
    }
  }

  return { sandboxMode: options.sandboxMode, resolve, run, start }
}

interface Stopper {
  readonly cause: () => Cause | undefined
  readonly release: () => void
}

/** Ends the process at its deadline or when the caller aborts; the first cause is the one reported. */
function stopOn(process: RunningProcess, spec: ShellSpec): Stopper {
  let cause: Cause | undefined
  const stop = (why: Cause) => {
    cause ??= why
    void process.terminate()
  }
  const onAbort = () => stop('abort')
  const timer = setTimeout(() => stop('timeout'), spec.timeoutMs)
  if (spec.signal?.aborted) onAbort()
  else spec.signal?.addEventListener('abort', onAbort, { once: true })
  return {
    cause: () => cause,
    release: () => {
      clearTimeout(timer)
      spec.signal?.removeEventListener('abort', onAbort)
    },
  }
}

async function finish(
  started: { launch: Launch; process: RunningProcess; arrivals: ReturnType<typeof arrivalLog> },
  spec: ShellSpec,
  stopper: Stopper,
): Promise<{ readonly outcome: ShellOutcome; readonly failure: Verdict['failure'] }> {
  const settled = await started.process.done
  stopper.release()
  const cause = stopper.cause()
  const { exitCode, signal, sandbox, failure } = started.launch.judge(settled, cause !== undefined)
  const outcome: ShellOutcome = {
    exitCode,
    signal,
    timedOut: cause === 'timeout',
    aborted: cause === 'abort',
    timeoutMs: spec.timeoutMs,
    timeoutClamped: spec.timeoutClamped,
    durationMs: settled.durationMs,
    stdout: settled.stdout,
    stderr: settled.stderr,
    arrivals: started.arrivals.runs(),
    ...(sandbox === undefined ? {} : { sandbox }),
  }
  return { outcome, failure }
}
