import type { SandboxMode } from './types.ts'

/** Narrowest first. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const satisfies SandboxMode[]

export function isSandboxMode(value: unknown): value is SandboxMode {
  return (sandboxModes as readonly unknown[]).includes(value)
}

/** Whether `to` allows strictly more than `from`. */
export function isWider(from: SandboxMode, to: SandboxMode): boolean {
  return sandboxModes.indexOf(to) > sandboxModes.indexOf(from)
}
