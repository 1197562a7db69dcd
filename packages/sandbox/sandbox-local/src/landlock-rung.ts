import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { abiGaps, landlockAbi, landlockArgv, landlockStatus } from '@dsh/landlock-run'
import {
  type Area,
  accessAt,
  areasOf,
  type ConfinedCommand,
  type ConfineRequest,
  type SandboxPolicy,
  sandboxUnavailable,
} from '@dsh/sandbox'
import { probe } from './probe.ts'
import { probeKey } from './probe-cache.ts'
import { requireRoot } from './require-root.ts'
import { requireRunner } from './require-runner.ts'
import type { Rung } from './rung.ts'
import type { SandboxSettings } from './settings.ts'
import { verdictMemory } from './verdict-memory.ts'

const statusFd = 3
const landlockProfileVersion = 1

/** Written to by nearly every program, and harmless. */
const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty']

/** What no version of Landlock covers. */
const alwaysOpen = ['mode, owner and times of files outside', 'the view of other processes', 'unix sockets with a path']

export interface LandlockLauncher {
  readonly path: string
  readonly identity: string
}

export function landlockRung(launcher: LandlockLauncher | undefined, settings: SandboxSettings): Rung {
  let abi: number | undefined
  const memory = verdictMemory(
    settings.home === undefined ? undefined : join(settings.home, 'cache/sandbox-landlock.json'),
    probeKey('landlock', landlockProfileVersion, launcher?.identity ?? ''),
    async () => {
      if (launcher === undefined)
        return {
          usable: false,
          detail: 'no launcher for this machine, or only one where commands could change it',
          holes: [],
        }
      return await probe({
        scratch: settings.scratch,
        shell: settings.shell,
        timeoutMs: settings.probeTimeoutMs,
        pidNamespace: false,
        confine: async (policy, _cwd, argv) => ({
          argv: landlockArgv(launcher.path, { ...grantsOf(policy, []), statusFd }, argv),
          statusFd,
          ran: (status) => landlockStatus(status).ran,
        }),
      })
    },
  )

  async function abiOf(path: string): Promise<number> {
    abi ??= landlockAbi(await outputOf(path, ['--probe'])) ?? 0
    return abi
  }

  return {
    name: 'landlock',
    verdict: memory.verdict,
    forget: memory.forget,
    gaps: () => alwaysOpen,
    async confine({ argv, policy }: ConfineRequest): Promise<ConfinedCommand> {
      if (launcher === undefined) throw sandboxUnavailable(policy.mode)
      requireRunner(launcher.path, policy)
      await requireRoot(policy.workspaceRoot)
      const version = await abiOf(launcher.path)
      const { holes } = await memory.verdict()
      return {
        argv: landlockArgv(launcher.path, { ...grantsOf(policy), statusFd }, argv),
        statusFd,
        readStatus: landlockStatus,
        enforcement: 'partial',
        notCovered: [...holes, ...alwaysOpen, ...abiGaps(version), ...policyGaps(policy, settings, version)],
        rung: 'landlock',
        denialSignatures: ['permission denied', '权限不够', '拒絕不符權限的操作'],
        mapsSignalsToExitCodes: false,
      }
    },
  }
}

function grantsOf(policy: SandboxPolicy, temp?: readonly string[]) {
  const writable = areasOf(policy, temp).filter(({ access }) => access === 'write')
  const write = [...writable.map(({ path }) => path), ...devices, ...(writable.length > 0 ? ['/dev/shm'] : [])]
  return { read: ['/'], write: write.filter((path) => existsSync(path)), noTcp: policy.network === 'none' }
}

/** A grant holds for everything below it: nothing can be taken out again. */
function policyGaps(policy: SandboxPolicy, settings: SandboxSettings, abi: number): string[] {
  const areas = areasOf(policy)
  const within = (area: Area, index: number) => accessAt(areas.slice(0, index), area.path) === 'write'
  return [
    ...areas.flatMap((area, index) =>
      area.access === 'read' && area.path !== '/' && within(area, index) ? [`"${area.path}", which is protected`] : [],
    ),
    ...areas.flatMap((area) => (area.access === 'none' && existsSync(area.path) ? [`reading "${area.path}"`] : [])),
    ...(policy.network === 'none' ? [abi < 4 ? 'the network' : 'UDP and raw sockets'] : []),
    ...(settings.tmp !== 'host' && policy.mode === 'workspace-write' ? ['a /tmp of its own'] : []),
  ]
}

function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, [...args], (_error, stdout) => resolve(stdout))
  })
}
