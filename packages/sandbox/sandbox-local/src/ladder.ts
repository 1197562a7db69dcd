import {
  type ConfinedCommand,
  type ConfineRequest,
  type SandboxReport,
  type SandboxService,
  sandboxUnavailable,
} from '@dsh/sandbox'
import type { ResourceLimits } from './limits.ts'
import type { PackageCaches } from './package-caches.ts'
import type { Verdict } from './probe.ts'
import type { Rung } from './rung.ts'

interface Tried {
  readonly rung: Rung
  readonly verdict: Verdict
}

export interface LadderOptions {
  /** Reported with every result and never full. */
  readonly knownGaps?: readonly string[]
  /** Made at the first command. */
  readonly limits?: () => ResourceLimits
  /** Caches for commands that may write. */
  readonly caches?: () => Promise<PackageCaches>
}

/**
 * The first rung that holds confines every command. One that works but let an escape through is used only where no other
 * is better, and says so. Without a usable rung every request is refused.
 */
export function ladder(rungs: readonly Rung[], options: LadderOptions = {}): SandboxService {
  const { knownGaps = [] } = options
  async function climb(all = false): Promise<{ readonly chosen: Rung | undefined; readonly tried: readonly Tried[] }> {
    const tried: Tried[] = []
    for (const rung of rungs) {
      const verdict = await rung.verdict()
      tried.push({ rung, verdict })
      if (!all && holds(verdict)) break
    }
    const chosen = tried.find(({ verdict }) => holds(verdict)) ?? tried.find(({ verdict }) => verdict.usable)
    return { chosen: chosen?.rung, tried }
  }

  return {
    async confine(request): Promise<ConfinedCommand> {
      const { mode } = request.policy
      if (mode === 'danger-full-access') throw new TypeError('danger-full-access is not confined')
      const { chosen } = await climb()
      if (chosen === undefined) throw sandboxUnavailable(mode)
      const caches = mode === 'workspace-write' ? await options.caches?.() : undefined
      const confined = await chosen.confine(caches === undefined ? request : withCaches(request, caches))
      const notCovered = [...confined.notCovered, ...knownGaps]
      return {
        ...confined,
        argv: options.limits?.().wrap(confined.argv) ?? confined.argv,
        ...(caches === undefined ? {} : { env: { ...caches.env, ...confined.env } }),
        notCovered,
        enforcement: notCovered.length === 0 ? confined.enforcement : 'partial',
        runnerFailed: () => chosen.forget(),
      }
    },

    async report({ all = false } = {}): Promise<SandboxReport> {
      const { chosen, tried } = await climb(all)
      const holes = tried.find(({ rung }) => rung === chosen)?.verdict.holes ?? []
      const notCovered = chosen === undefined ? [] : [...holes, ...chosen.gaps(), ...knownGaps]
      return {
        rung: chosen?.name,
        enforcement: chosen === undefined ? 'none' : notCovered.length === 0 ? 'full' : 'partial',
        notCovered,
        ...(options.limits === undefined ? {} : { limits: options.limits().words }),
        tried: tried.map(({ rung, verdict }) => ({
          rung: rung.name,
          usable: verdict.usable,
          detail: detailOf(rung, verdict),
        })),
      }
    },
  }
}

function withCaches(request: ConfineRequest, { directory }: PackageCaches): ConfineRequest {
  const { policy } = request
  return { ...request, policy: { ...policy, writableRoots: [...(policy.writableRoots ?? []), directory] } }
}

function holds({ usable, holes }: Verdict): boolean {
  return usable && holes.length === 0
}

function detailOf(rung: Rung, { usable, holes, detail }: Verdict): string {
  if (holes.length > 0) return `does not hold: ${holes.join(', ')}`
  const gaps = rung.gaps()
  return usable && gaps.length > 0 ? `usable, but leaves open: ${gaps.join(', ')}` : detail
}
