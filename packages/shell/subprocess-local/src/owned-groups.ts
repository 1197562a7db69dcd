import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupExists, groupMembers, processesWith, signalTo } from './process-table.ts'
import { type Identity, isAlive } from './terminate.ts'

const detachedGraceMs = 500
const settleMs = 100

/**
 * Every process group started here that may still have members: the running ones, and those whose leader has exited
 * leaving others behind. Nothing in it outlives this process.
 */
export class OwnedGroups {
  private readonly running = new Map<number, () => Promise<void>>()
  /** Their leader has just exited. */
  private readonly ended = new Set<number>()
  private readonly leftovers = new Map<number, readonly Identity[]>()
  private readonly mark = `DSH_RUN=${randomBytes(8).toString('hex')}`
  private marked = false

  /** The variable by which processes are found that left their group. */
  markOf(): { readonly [name: string]: string } {
    this.marked = true
    const [name = '', value = ''] = this.mark.split('=')
    return { [name]: value }
  }

  add(group: number, terminate: () => Promise<void>): void {
    this.running.set(group, terminate)
  }

  /**
   * The leader is gone; its group is remembered as long as it has members. Most groups are empty a moment later, so
   * only then is the process table read; and a sandbox runner (`contained`) takes everybody along.
   */
  settle(group: number, contained: boolean): void {
    this.running.delete(group)
    if (contained || !groupExists(group)) return
    this.ended.add(group)
    setTimeout(() => this.look(group), settleMs).unref()
  }

  /** TERM, grace and KILL for all of them; resolves when they are gone. */
  async terminateAll(): Promise<void> {
    await Promise.allSettled([...this.running.values()].map((terminate) => terminate()))
    const detached = this.detached()
    for (const pid of detached) signalTo(pid, 'SIGTERM')
    if (detached.length > 0) await sleep(detachedGraceMs)
    this.killAll()
  }

  /** For the last moment of this process, when nothing can be waited for. */
  killAll(): void {
    for (const group of [...this.running.keys(), ...this.ended]) signalTo(-group, 'SIGKILL')
    for (const [group, known] of this.leftovers) {
      if (known.some(isAlive)) signalTo(-group, 'SIGKILL')
    }
    for (const pid of this.detached()) signalTo(pid, 'SIGKILL')
    this.leftovers.clear()
    this.ended.clear()
  }

  private look(group: number): void {
    if (!this.ended.delete(group)) return
    const members = groupMembers(group)
    if (members.length > 0) this.leftovers.set(group, members)
    for (const [other, known] of this.leftovers) if (!known.some(isAlive)) this.leftovers.delete(other)
  }

  private detached(): readonly number[] {
    return this.marked ? processesWith(this.mark) : []
  }
}
