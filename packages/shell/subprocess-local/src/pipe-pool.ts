import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

const batch = 16

export interface Pipe {
  readonly read: number
  readonly write: number
}

/**
 * Real pipes for the output of children. Node gives a child sockets, and a socket cannot be opened again: there
 * `echo x > /dev/stderr` and `tee /dev/stdout` fail. A pipe is also twice as fast. They are made as named pipes in
 * batches, and have lost their names before anybody uses them. Where none can be made, the sockets remain.
 */
export class PipePool {
  private readonly ready: Pipe[] = []
  private readonly mkfifo: string | undefined
  private filling: Promise<void> | undefined
  private closed = false

  /** The program that makes named pipes, as an absolute path; without it no pipe is ever given. */
  constructor(mkfifo: string | undefined) {
    this.mkfifo = process.platform === 'linux' ? mkfifo : undefined
  }

  async take(count: number): Promise<readonly Pipe[] | undefined> {
    if (this.mkfifo === undefined) return undefined
    if (this.ready.length < count) await this.fill(this.mkfifo)
    if (this.ready.length < count) return undefined
    const taken = this.ready.splice(0, count)
    if (this.ready.length < count) void this.fill(this.mkfifo)
    return taken
  }

  /** Waits for a batch that is being made, whose names would stay otherwise. */
  async close(): Promise<void> {
    this.closed = true
    await this.filling
    for (const pipe of this.ready.splice(0)) closePipe(pipe)
  }

  private fill(mkfifo: string): Promise<void> {
    this.filling ??= makePipes(mkfifo)
      .then((pipes) => {
        if (this.closed) pipes.forEach(closePipe)
        else this.ready.push(...pipes)
      })
      .catch(() => {})
      .finally(() => {
        this.filling = undefined
      })
    return this.filling
  }
}

/** The reading end as a stream; ends when the last writer is gone. */
export function readPipe(fd: number): Readable {
  return new Socket({ fd, readable: true, writable: false })
}

export function closePipe(pipe: Pipe): void {
  closeSync(pipe.read)
  closeSync(pipe.write)
}

async function makePipes(mkfifo: string): Promise<Pipe[]> {
  const dir = mkdtempSync(join(tmpdir(), `dsh-pipes-${process.pid}-`))
  try {
    const names = Array.from({ length: batch }, (_, n) => join(dir, String(n)))
    await promisify(execFile)(mkfifo, ['-m', '600', ...names])
    return names.map(openPipe)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The reader first, without waiting; then the writer finds it and need not wait either. */
function openPipe(name: string): Pipe {
  const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const write = openSync(name, constants.O_WRONLY)
    unlinkSync(name)
    return { read, write }
  } catch (error) {
    closeSync(read)
    throw error
  }
}
