/**
 * At most `max` bytes of a stream in memory: its tail or its head. Bytes are exact; text is cut on code points.
 */
export class ByteWindow {
  /** Bytes seen in all. */
  total = 0
  private buffer: Buffer
  private start = 0
  private length = 0
  private cursor = 0
  private readonly max: number
  private readonly keep: 'tail' | 'head'

  constructor(max: number, keep: 'tail' | 'head' = 'tail') {
    this.max = max
    this.keep = keep
    this.buffer = Buffer.alloc(0)
  }

  get truncated(): boolean {
    return this.total > this.max
  }

  push(chunk: Uint8Array): void {
    this.total += chunk.length
    if (this.keep === 'head') this.append(chunk.subarray(0, this.max - this.length))
    else if (chunk.length >= this.max) this.replace(chunk.subarray(chunk.length - this.max))
    else this.append(chunk)
  }

  /** Everything held, in order. */
  bytes(): Buffer {
    return this.slice(0)
  }

  text(): string {
    const bytes = this.bytes()
    if (!this.truncated) return bytes.toString('utf8')
    if (this.keep === 'head') return bytes.toString('utf8', 0, bytes.length - danglingTail(bytes))
    return bytes.toString('utf8', danglingHead(bytes))
  }

  /** What arrived since the last read; a code point still arriving waits for the next one, unless `final`. */
  read(final: boolean): { readonly text: string; readonly dropped: boolean } {
    const oldest = this.keep === 'head' ? 0 : this.total - this.length
    const dropped = this.keep === 'head' ? this.truncated : this.cursor < oldest
    const bytes = this.slice(Math.max(0, this.cursor - oldest))
    const from = this.cursor < oldest ? danglingHead(bytes) : 0
    const held = final ? 0 : danglingTail(bytes)
    this.cursor = oldest + this.length - held
    return { text: bytes.toString('utf8', from, bytes.length - held), dropped }
  }

  private replace(chunk: Uint8Array): void {
    this.reserve(this.max)
    this.buffer.set(chunk, 0)
    this.start = 0
    this.length = this.max
  }

  private append(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.reserve(Math.min(this.max, this.length + chunk.length))
    const capacity = this.buffer.length
    const at = (this.start + this.length) % capacity
    const first = Math.min(chunk.length, capacity - at)
    this.buffer.set(chunk.subarray(0, first), at)
    this.buffer.set(chunk.subarray(first), 0)
    const overflow = Math.max(0, this.length + chunk.length - capacity)
    this.start = (this.start + overflow) % capacity
    this.length = Math.min(capacity, this.length + chunk.length)
  }

  /** The ring only wraps once it has its full size, so growing is a plain copy. */
  private reserve(size: number): void {
    if (size <= this.buffer.length) return
    const grown = Buffer.allocUnsafe(Math.min(this.max, Math.max(size, this.buffer.length * 2, 4096)))
    this.buffer.copy(grown, 0, 0, this.length)
    this.buffer = grown
  }

  private slice(offset: number): Buffer {
    const out = Buffer.allocUnsafe(Math.max(0, this.length - offset))
    if (out.length === 0) return out
    const begin = (this.start + offset) % this.buffer.length
    const first = Math.min(out.length, this.buffer.length - begin)
    this.buffer.copy(out, 0, begin, begin + first)
    this.buffer.copy(out, first, 0, out.length - first)
    return out
  }
}

/** Number of leading bytes that belong to a code point whose start was cut off. */
function danglingHead(bytes: Uint8Array): number {
  let count = 0
  while (count < 3 && count < bytes.length && ((bytes[count] as number) & 0xc0) === 0x80) count++
  return count
}

/** Number of trailing bytes that begin a code point whose end is missing. */
function danglingTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const width = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return width > back ? back : 0
  }
  return 0
}
