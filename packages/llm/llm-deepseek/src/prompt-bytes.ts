import type { Message } from '@dsh/llm'

const FIRST_BYTES = 65_536

/**
 * The messages of one conversation as they go over the wire, encoded once. Append-only: a request that is still being
 * sent reads bytes that never change.
 */
export class PromptBytes {
  private readonly system: string | undefined
  private readonly held: Message[] = []
  private bytes = Buffer.allocUnsafe(FIRST_BYTES)
  private used = 0
  private units = 0

  constructor(system: string | undefined) {
    this.system = system === '' ? undefined : system
    if (this.system !== undefined) this.write(JSON.stringify({ role: 'system', content: this.system }))
  }

  /** How many of `messages` are held already; undefined when they are no continuation of what is held. */
  heldOf(system: string | undefined, messages: readonly Message[]): number | undefined {
    const { held } = this
    if ((system === '' ? undefined : system) !== this.system || messages.length < held.length) return undefined
    for (let i = 0; i < held.length; i++) if (held[i] !== messages[i]) return undefined
    return held.length
  }

  /** `wire` are the objects that the message becomes; their texts follow one another with commas between. */
  append(message: Message, wire: readonly object[]): void {
    for (const object of wire) this.write(JSON.stringify(object))
    this.held.push(message)
  }

  /** What is between the brackets of `messages`. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.used)
  }

  /** Length in UTF-16 units. */
  get length(): number {
    return this.units
  }

  private write(text: string): void {
    const whole = this.used === 0 ? text : `,${text}`
    const size = Buffer.byteLength(whole)
    if (this.used + size > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + size))
      this.bytes.copy(larger, 0, 0, this.used)
      this.bytes = larger
    }
    this.bytes.write(whole, this.used)
    this.used += size
    this.units += whole.length
  }
}
