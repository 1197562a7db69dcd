import { randomBytes } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

let count = 0

/**
 * The whole of one over-long stream in a private file. Writes are synchronous: that is the back-pressure that keeps
 * memory flat. A stream longer than `maxBytes`, or a disk that refuses, leaves no file at all.
 */
export class CaptureFile {
  private fd: number | undefined
  private written = 0
  private file: string | undefined
  private readonly maxBytes: number

  constructor(dir: string, stream: 'stdout' | 'stderr', maxBytes: number) {
    this.maxBytes = maxBytes
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      this.file = join(dir, `${process.pid}-${++count}-${randomBytes(6).toString('hex')}-${stream}.log`)
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
      this.fd = openSync(this.file, flags, 0o600)
    } catch {
      this.file = undefined
    }
  }

  /** undefined once the capture was given up. */
  get path(): string | undefined {
    return this.file
  }

  write(chunk: Uint8Array): void {
    if (this.fd === undefined) return
    this.written += chunk.length
    try {
      if (this.written > this.maxBytes) throw new RangeError('over the cap')
      for (let offset = 0; offset < chunk.length; ) offset += writeSync(this.fd, chunk, offset)
    } catch {
      this.giveUp()
    }
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd)
    this.fd = undefined
  }

  private giveUp(): void {
    this.close()
    if (this.file !== undefined) unlinkSync(this.file)
    this.file = undefined
  }
}
