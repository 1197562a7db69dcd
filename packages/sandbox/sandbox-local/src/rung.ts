import type { ConfinedCommand, ConfineRequest } from '@dsh/sandbox'
import type { Verdict } from './probe.ts'

export const rungNames = ['bwrap', 'landlock'] as const
export type RungName = (typeof rungNames)[number]

/** One way to confine a command on this machine. */
export interface Rung {
  readonly name: RungName
  /** Runs at most once until `forget`; what it finds may come from an earlier run of dsh. */
  verdict(): Promise<Verdict>
  /** The runner failed although the verdict was good: look again next time. */
  forget(): void
  confine(request: ConfineRequest): Promise<ConfinedCommand>
  /** What it leaves open under any policy, as readable phrases. */
  gaps(): readonly string[]
}
