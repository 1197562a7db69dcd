import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupMembers, processesWith, signalTo } from './process-table.ts'
import { type Identity, isAlive } from './terminate.ts'

const detachedGraceMs = 500

/**
 * Every process group started here that may still have members: the running ones, and those whose leader has exited
 * leaving others behind. Nothing in it outlives this process.
 */
export class OwnedGroups {
  private readonly running = new Map<number, () => Promise<void>>()
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

  /** The leader is gone; its group is remembered as long as it has members. */
  settle(group: number): void {
    this.running.delete(group)
    const members = groupMembers(group)
    if (members.length > 0) this.leftovers.set(group, members)
    else this.leftovers.delete(group)
    for (const [other, known] of this.leftovers) if (!known.some(isAlive)) this.leftovers.delete(other)
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
    for (const group of this.running.keys()) signalTo(-group, 'SIGKILL')
    for (const [group, known] of this.leftovers) {
      if (known.some(isAlive)) signalTo(-group, 'SIGKILL')
    }
    for (const pid of this.detached()) signalTo(pid, 'SIGKILL')
    this.leftovers.clear()
  }

  private detached(): readonly number[] {
    return this.marked ? processesWith(this.mark) : []
  }
}
