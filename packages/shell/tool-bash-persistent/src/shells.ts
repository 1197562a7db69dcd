import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Agent } from '@dsh/agent'
import type { ConfinedCommand, SandboxPolicy, SandboxService } from '@dsh/sandbox'
import { sandboxUnavailable } from '@dsh/sandbox'
import { plainText } from './plain-text.ts'
import { type CallResult, type ShellCommand, ShellSession } from './shell-session.ts'

export interface ShellsOptions {
  /** Absolute. */
  readonly bash: string
  /** Private directories of the shells go here; commands can read but not write it. */
  readonly root: string
  readonly sandbox: SandboxService
  readonly policyOf: (agent: Agent) => SandboxPolicy
  readonly envOf: (agent: Agent) => { readonly [name: string]: string }
  /** For a shell that no runner holds together: what leaves it is found by these. */
  readonly detachedMark: () => { readonly [name: string]: string }
}

interface Slot {
  session: ShellSession | undefined
  confined: ConfinedCommand | undefined
  policy: SandboxPolicy | undefined
  /** Why the next call finds another shell than the last one. */
  lost: string | undefined
  /** Calls of one agent follow each other. */
  turn: Promise<unknown>
}

export interface ShellCall extends CallResult {
  readonly restarted?: string
  readonly policy: SandboxPolicy
  readonly confined: ConfinedCommand | undefined
}

/** One shell per agent, made at its first call, ended with it. */
export class Shells {
  private readonly slots = new Map<Agent, Slot>()
  private readonly options: ShellsOptions

  constructor(options: ShellsOptions) {
    this.options = options
  }

  run(agent: Agent, command: string, timeoutMs: number, signal: AbortSignal): Promise<ShellCall> {
    const slot = this.slotOf(agent)
    const mine = slot.turn.then(() => this.call(agent, slot, command, timeoutMs, signal))
    slot.turn = mine.catch(() => {})
    return mine
  }

  async close(): Promise<void> {
    await Promise.all([...this.slots.values()].map((slot) => slot.session?.close()))
    this.slots.clear()
  }

  private async call(
    agent: Agent,
    slot: Slot,
    command: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ShellCall> {
    const policy = this.options.policyOf(agent)
    await this.dropOutdated(slot, policy)
    const restarted = slot.session === undefined ? slot.lost : undefined
    slot.session ??= await this.open(agent, slot, policy)
    slot.lost = undefined
    const result = await slot.session.run(command, timeoutMs, signal)
    this.refuseUnstarted(slot, policy, result)
    if (result.end.kind === 'aborted') slot.lost = 'the last call was aborted and its shell ended'
    if (result.end.kind === 'timeout' || result.end.kind === 'aborted') await slot.session.close()
    if (!slot.session.alive) slot.session = undefined
    return { ...result, policy, confined: slot.confined, ...(restarted === undefined ? {} : { restarted }) }
  }

  /** A shell keeps the confinement it was started with, so another policy takes another shell. */
  private async dropOutdated(slot: Slot, policy: SandboxPolicy): Promise<void> {
    if (slot.session === undefined) return
    const before = slot.policy
    if (slot.session.alive && JSON.stringify(before) === JSON.stringify(policy)) return
    slot.lost = slot.session.alive
      ? `the sandbox policy changed from ${before?.mode} to ${policy.mode}`
      : 'the shell had ended since the last call'
    await slot.session.close()
    slot.session = undefined
  }

  private open(agent: Agent, slot: Slot, policy: SandboxPolicy): Promise<ShellSession> {
    const { bash, root, sandbox, envOf, detachedMark } = this.options
    const cwd = policy.workspaceRoot
    slot.policy = policy
    slot.confined = undefined
    const wrap = async (argv: readonly string[]): Promise<ShellCommand> => {
      if (policy.mode === 'danger-full-access') return { argv, cwd, env: { ...envOf(agent), ...detachedMark() } }
      const confined = await sandbox.confine({ argv, policy, cwd })
      slot.confined = confined
      const { statusFd } = confined
      const env = { ...confined.env, ...envOf(agent) }
      return { argv: confined.argv, cwd, env, ...(statusFd === undefined ? {} : { statusFd }) }
    }
    return ShellSession.open(join(root, randomBytes(6).toString('hex')), bash, wrap)
  }

  /** A runner that gave up before bash started is a refusal, not an exit of the shell. */
  private refuseUnstarted(slot: Slot, policy: SandboxPolicy, { text, end }: CallResult): void {
    if (end.kind !== 'exited' || end.signal !== undefined || slot.confined?.readStatus === undefined) return
    const { ran } = slot.confined.readStatus(slot.session?.status() ?? '')
    if (ran) return
    slot.confined.runnerFailed?.()
    slot.session = undefined
    throw sandboxUnavailable(policy.mode, { detail: plainText(text).trim().split('\n')[0] || 'the runner ended' })
  }

  private slotOf(agent: Agent): Slot {
    const known = this.slots.get(agent)
    if (known !== undefined) return known
    const slot: Slot = {
      session: undefined,
      confined: undefined,
      policy: undefined,
      lost: undefined,
      turn: Promise.resolve(),
    }
    this.slots.set(agent, slot)
    agent.ctx.effect(() => async () => {
      this.slots.delete(agent)
      await slot.session?.close()
    })
    return slot
  }
}
