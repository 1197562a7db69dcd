import { existsSync } from 'node:fs'
import type { Mount } from './mount-plan.ts'

export interface BwrapProfile {
  readonly mounts: readonly Mount[]
  readonly network: 'shared' | 'none'
  /** Effective uid 0: bubblewrap then makes no user namespace, and root keeps its powers unless they are dropped. */
  readonly root: boolean
  readonly cwd: string
  /** Set whatever the command's environment says. */
  readonly env?: { readonly [name: string]: string }
  readonly statusFd: number
}

/** Change when the profile does: a remembered probe of another profile says nothing about this one. */
export const bwrapProfileVersion = 2

/** What root keeps: files of other owners in the workspace stay usable. Mounting, devices, sysctls are not among it. */
const keptCapabilities = ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER']

/**
 * Parts of /proc that uid 0 may write without any capability; bubblewrap itself covers `irq`, `bus` and the emergency
 * switch. Each mount costs part of a millisecond, so only what is there.
 */
const kernelSwitches = ['/proc/sys', '/proc/fs', '/proc/acpi', '/proc/scsi'].filter((path) => existsSync(path))

export function bwrapArgv(runner: readonly string[], profile: BwrapProfile, command: readonly string[]): string[] {
  const [base, ...over] = profile.mounts
  return [
    ...runner,
    ...(base === undefined ? [] : mount(base)),
    ...['--dev', '/dev', '--unshare-pid', '--unshare-ipc', '--proc', '/proc', '--die-with-parent'],
    ...(profile.root ? hardening() : []),
    ...(profile.network === 'none' ? ['--unshare-net'] : []),
    ...over.flatMap(mount),
    ...over.flatMap((one) => (one.kind === 'empty' && !one.writable ? ['--remount-ro', one.path] : [])),
    ...Object.entries(profile.env ?? {}).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', profile.cwd, '--json-status-fd', String(profile.statusFd), '--'],
    ...command,
  ]
}

function hardening(): string[] {
  return [
    ...['--cap-drop', 'ALL'],
    ...keptCapabilities.flatMap((capability) => ['--cap-add', capability]),
    ...kernelSwitches.flatMap((path) => ['--ro-bind', path, path]),
  ]
}

function mount(one: Mount): string[] {
  switch (one.kind) {
    case 'read':
      return ['--ro-bind', one.source ?? one.path, one.path]
    case 'write':
      return ['--bind', one.source ?? one.path, one.path]
    case 'empty':
      return [...(one.path === '/tmp' ? ['--perms', '1777'] : []), '--tmpfs', one.path]
    case 'nothing':
      return ['--ro-bind', '/dev/null', one.path]
  }
}
