import type { Readable } from 'node:stream'
import type { CollectedStream, SpawnSpec } from '@dsh/subprocess'
import { ByteWindow } from './byte-window.ts'
import { CaptureFile } from './capture.ts'

type CollectOptions = Pick<SpawnSpec, 'maxOutputBytes' | 'maxSpillBytes' | 'captureDir' | 'keep' | 'onData'>

/** Reads one stream of a child to its end: a window in memory, everything in a capture file once it overflows. */
export class StreamCollector {
  /** Resolves when the stream is closed, by whoever holds it last. */
  readonly closed: Promise<void>
  /** `performance.now()` of the last chunk. */
  lastDataAt = 0
  private readonly window: ByteWindow
  private capture: CaptureFile | undefined
  private settled = false
  private readonly stream: Readable
  private readonly name: 'stdout' | 'stderr'
  private readonly options: CollectOptions

  constructor(stream: Readable, name: 'stdout' | 'stderr', options: CollectOptions) {
    this.stream = stream
    this.name = name
    this.options = options
    this.window = new ByteWindow(options.maxOutputBytes, options.keep)
    this.closed = new Promise((resolve) => stream.once('close', resolve))
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => this.push(chunk))
  }

  get spillPath(): string | undefined {
    return this.capture?.path
  }

  read(): { readonly text: string; readonly dropped: boolean } {
    return this.window.read(this.settled)
  }

  /**
   * Ends the collection. A descendant that still holds the pipe may go on writing; that is read and thrown away, so
   * that it neither blocks nor dies of a broken pipe, and it no longer keeps this process alive.
   */
  settle(): CollectedStream {
    this.settled = true
    this.capture?.close()
    const handle = this.stream as Readable & { unref?(): void }
    handle.unref?.()
    const spillPath = this.spillPath
    return {
      text: this.window.text(),
      bytes: this.window.total,
      truncated: this.window.truncated,
      ...(spillPath === undefined ? {} : { spillPath }),
    }
  }

  private push(chunk: Buffer): void {
    if (this.settled) return
    this.lastDataAt = performance.now()
    const { captureDir, maxSpillBytes, maxOutputBytes, onData } = this.options
    if (this.capture === undefined && captureDir !== undefined && this.window.total + chunk.length > maxOutputBytes) {
      this.capture = new CaptureFile(captureDir, this.name, maxSpillBytes)
      this.capture.write(this.window.bytes())
    }
    this.capture?.write(chunk)
    this.window.push(chunk)
    onData?.(this.name, chunk)
  }
}
