import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants as fileModes, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { IPty } from '@lydell/node-pty'
import { callRecord, driver } from './driver.ts'
import { MarkedOutput } from './marked-output.ts'
import { terminalReader } from './terminal-reader.ts'

const size = { cols: 160, rows: 40 }
/** How long a silent program must sit in a terminal read before the call returns to ask. */
const askMs = 300
const pollMs = 50
const closeMs = 3000
/** Raw characters of one call kept in memory; what the model sees is cut further. */
const maxRawChars = 262_144

export interface ShellCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  /** The descriptor a sandbox runner reports at; it gets a file there, as a terminal passes no pipes on. */
  readonly statusFd?: number
}

export type CallEnd =
  | { readonly kind: 'done'; readonly exitCode: number }
  | { readonly kind: 'asks' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'exited'; readonly exitCode?: number; readonly signal?: string }

export interface CallResult {
  readonly text: string
  readonly clipped: boolean
  readonly end: CallEnd
}

/** Our own search path may begin in the workspace, where a command can put a program of any name. */
const systemPath = '/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin'

/** One bash on one terminal. Calls come one at a time; the caller sees to that. */
export class ShellSession {
  private readonly pty: IPty
  private readonly calls: number
  private readonly statusFile: string
  private output: MarkedOutput | undefined
  private exit: { readonly exitCode?: number; readonly signal?: string } | undefined
  private lastOutputAt = 0
  private lastStatus: string | undefined
  private readonly gone: Promise<void>

  /** `bash` as an absolute path, `wrap` puts a runner around it. */
  static async open(
    dir: string,
    bash: string,
    wrap: (argv: readonly string[]) => Promise<ShellCommand>,
  ): Promise<ShellSession> {
    const { spawn } = await import('@lydell/node-pty')
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const pipe = join(dir, 'calls')
    await promisify(execFile)('mkfifo', ['-m', '600', pipe], { env: { PATH: systemPath } })
    const command = await wrap([bash, '--noprofile', '--norc', '-c', driver, 'bash', pipe])
    const statusFile = join(dir, 'status')
    const [program = '', ...args] = withStatusFile(command, statusFile)
    const pty = spawn(program, args, { ...size, cwd: command.cwd, env: { ...command.env }, encoding: null })
    return new ShellSession(pty, dir, openSync(pipe, fileModes.O_RDWR | fileModes.O_NONBLOCK), statusFile)
  }

  private constructor(pty: IPty, dir: string, calls: number, statusFile: string) {
    this.pty = pty
    this.calls = calls
    this.statusFile = statusFile
    const decoder = new TextDecoder()
    pty.onData((data: string | Uint8Array) => {
      this.lastOutputAt = performance.now()
      this.output?.push(typeof data === 'string' ? data : decoder.decode(data, { stream: true }))
    })
    this.gone = new Promise((resolve) => {
      pty.onExit(({ exitCode, signal }) => {
        this.exit = signal ? { signal: signalName(signal) } : { exitCode }
        this.lastStatus = this.status()
        closeSync(calls)
        rmSync(dir, { recursive: true, force: true })
        resolve()
      })
    })
  }

  get alive(): boolean {
    return this.exit === undefined
  }

  /** A call returned while its program waited for input; the next one answers it. */
  get asking(): boolean {
    return this.output !== undefined
  }

  /** What the runner reported so far. */
  status(): string {
    if (this.lastStatus !== undefined) return this.lastStatus
    try {
      return readFileSync(this.statusFile, 'utf8')
    } catch {
      return ''
    }
  }

  async run(command: string, timeoutMs: number, signal: AbortSignal): Promise<CallResult> {
    if (this.output === undefined) {
      const tag = randomBytes(8).toString('hex')
      this.output = new MarkedOutput(tag, maxRawChars)
      await this.send(callRecord(tag, command))
    } else this.type(command)
    const end = await this.settled(this.output, performance.now() + timeoutMs, signal)
    const { text, clipped } = this.output.take()
    if (end.kind !== 'asks') this.output = undefined
    return { text, clipped, end }
  }

  /** Ends the shell and everything it started; resolves when it is gone. */
  async close(): Promise<void> {
    if (!this.alive) return
    for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
      try {
        process.kill(-this.pty.pid, signal)
      } catch {
        // Nobody is left in the group; the exit is on its way.
      }
      await Promise.race([this.gone, sleep(signal === 'SIGHUP' ? 500 : closeMs, undefined, { ref: false })])
      if (!this.alive) return
    }
  }

  private async settled(output: MarkedOutput, deadline: number, signal: AbortSignal): Promise<CallEnd> {
    this.lastOutputAt = performance.now()
    for (;;) {
      if (output.exitCode !== undefined) return { kind: 'done', exitCode: output.exitCode }
      if (output.leaving !== undefined) return this.leave(output.leaving)
      if (this.exit !== undefined) return { kind: 'exited', ...this.exit }
      if (signal.aborted) return { kind: 'aborted' }
      if (performance.now() >= deadline) return { kind: 'timeout' }
      if (performance.now() - this.lastOutputAt >= askMs && terminalReader(this.pty.pid) !== undefined)
        return { kind: 'asks' }
      await sleep(performance.now() - this.lastOutputAt < askMs ? 5 : pollMs)
    }
  }

  /** The shell waits for a word before it goes, because what it said last is now here. */
  private async leave(exitCode: number): Promise<CallEnd> {
    await this.send('\0')
    await Promise.race([this.gone, sleep(closeMs, undefined, { ref: false })])
    await this.close()
    return { kind: 'exited', exitCode }
  }

  /** The pipe holds 64 KiB; a longer call is written as the shell reads it. */
  private async send(record: string): Promise<void> {
    const bytes = Buffer.from(record)
    for (let at = 0; at < bytes.length && this.alive; ) {
      try {
        at += writeSync(this.calls, bytes, at)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        await sleep(5)
      }
    }
  }

  /** ^C goes to the program that reads: typed, it would reach a sandbox runner on the same terminal too. */
  private type(text: string): void {
    const reader = terminalReader(this.pty.pid)
    if (/^(\^C|\x03)$/i.test(text.trim())) {
      if (reader !== undefined) process.kill(reader, 'SIGINT')
    } else if (/^(\^D|\x04)$/i.test(text.trim())) this.pty.write('\x04')
    else this.pty.write(`${text}\n`)
  }
}

function withStatusFile({ argv, statusFd }: ShellCommand, file: string): readonly string[] {
  if (statusFd === undefined) return argv
  return ['/bin/sh', '-c', `exec ${statusFd}>"$0"; exec "$@"`, file, ...argv]
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
}
