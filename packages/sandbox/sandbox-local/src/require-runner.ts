import { accessAt, areasOf, type SandboxPolicy, sandboxUnavailable } from '@dsh/sandbox'

/** A runner that the policy lets commands change is none. A workspace that is `/` holds everything, and promises nothing. */
export function requireRunner(program: string, policy: SandboxPolicy): void {
  if (policy.workspaceRoot === '/' || accessAt(areasOf(policy), program) !== 'write') return
  throw sandboxUnavailable(policy.mode, { detail: `the runner "${program}" lies where commands can change it` })
}
