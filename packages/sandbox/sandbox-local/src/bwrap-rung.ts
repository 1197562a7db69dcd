import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  areasOf,
  type ConfinedCommand,
  type ConfineRequest,
  canonical,
  isWithin,
  sandboxUnavailable,
  tempRoots,
  workdirHidden,
} from '@dsh/sandbox'
import { bwrapArgv, bwrapProfileVersion } from './bwrap-argv.ts'
import { bwrapStatus } from './bwrap-status.ts'
import { isVisible, type PathKind, type PlanRequest, planMounts } from './mount-plan.ts'
import { probe } from './probe.ts'
import { probeKey } from './probe-cache.ts'
import { requireRoot } from './require-root.ts'
import { requireRunner } from './require-runner.ts'
import type { Rung } from './rung.ts'
import { sessionTmp } from './session-tmp.ts'
import type { SandboxSettings } from './settings.ts'
import { findSockets } from './sockets.ts'
import { verdictMemory } from './verdict-memory.ts'

const statusFd = 3

export interface BwrapRunner {
  readonly argv: readonly string[]
  readonly identity: string
}

/** `runner` absent = not installed, or only where commands could have put it. */
export function bwrapRung(runner: BwrapRunner | undefined, settings: SandboxSettings): Rung {
  const memory = verdictMemory(
    settings.home === undefined ? undefined : join(settings.home, 'cache/sandbox-bwrap.json'),
    probeKey('bwrap', bwrapProfileVersion, runner?.identity ?? ''),
    async () =>
      runner === undefined
        ? { usable: false, detail: 'bubblewrap is not installed where commands cannot change it', holes: [] }
        : await probe({
            scratch: settings.scratch,
            shell: settings.shell,
            timeoutMs: settings.probeTimeoutMs,
            pidNamespace: true,
            confine: async (policy, cwd, argv) => ({
              argv: (await build(runner, { policy, cwd, argv })).argv,
              statusFd,
              ran: (status) => bwrapStatus(status).ran,
            }),
          }),
  )

  async function build(found: BwrapRunner, { argv, policy, cwd }: ConfineRequest) {
    await requireRoot(policy.workspaceRoot)
    const writes = policy.mode === 'workspace-write'
    const temp = tempRoots()
    const tmp = writes ? await tmpOf(policy.sessionId) : ({ kind: 'host' } as const)
    const areas = areasOf(policy, tmp.kind === 'host' ? temp : [])
    const runtime = process.env['XDG_RUNTIME_DIR']
    const sockets = await findSockets({
      searched: [...new Set([...temp, '/run'].map(canonical))],
      allowed: settings.sockets,
      own: isWithin(policy.workspaceRoot, settings.userHome) ? [] : [policy.workspaceRoot],
      maskWhole: temp,
      needed: [policy.workspaceRoot, cwd],
      areas,
    })
    const plan = planMounts({
      areas,
      tmp,
      sockets: {
        directories: [...sockets.directories, ...(runtime?.startsWith('/') ? [canonical(runtime)] : [])],
        files: sockets.files,
      },
      kindOf,
    })
    if (!isVisible(plan, cwd)) throw workdirHidden(cwd)
    const network = policy.network ?? 'shared'
    const root = process.geteuid?.() === 0
    const env: Record<string, string> = tmp.kind === 'host' ? {} : { TMPDIR: '/tmp' }
    return { argv: bwrapArgv(found.argv, { ...plan, network, root, cwd, env, statusFd }, argv), absent: plan.absent }
  }

  async function tmpOf(sessionId: string | undefined): Promise<PlanRequest['tmp']> {
    if (settings.tmp === 'host') return { kind: 'host' }
    if (settings.tmp === 'fresh' || sessionId === undefined || settings.home === undefined) return { kind: 'empty' }
    return { kind: 'own', source: await sessionTmp(join(settings.home, 'tmp'), sessionId) }
  }

  return {
    name: 'bwrap',
    verdict: memory.verdict,
    forget: memory.forget,
    gaps: () => [],
    async confine(request): Promise<ConfinedCommand> {
      if (runner === undefined) throw sandboxUnavailable(request.policy.mode)
      requireRunner(runner.argv[0] ?? '', request.policy)
      const { argv, absent } = await build(runner, request)
      const { holes } = await memory.verdict()
      return {
        argv,
        statusFd,
        readStatus: bwrapStatus,
        enforcement: 'full',
        notCovered: [...holes, ...absent.map((path) => `"${path}", which does not exist yet`)],
        rung: 'bwrap',
        denialSignatures: readOnlySignatures,
        mapsSignalsToExitCodes: true,
      }
    },
  }
}

/** `EROFS` as the C library says it, in the languages it may be asked to speak. */
const readOnlySignatures = ['read-only file system', '只读文件系统', '唯讀檔案系統']

function kindOf(path: string): PathKind | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file'
  } catch {
    return undefined
  }
}
