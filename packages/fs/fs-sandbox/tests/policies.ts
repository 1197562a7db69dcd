import type { SandboxMode, SandboxPolicy, SandboxPolicyService } from '@dsh/sandbox'

/** A policy service that always answers the same. */
export function policiesOf(
  mode: SandboxMode,
  workspaceRoot: string,
  more: Partial<SandboxPolicy> = {},
): SandboxPolicyService {
  return {
    defaultMode: mode,
    workspaceRoot,
    resolve: (request) => ({ ...more, mode: request?.mode ?? mode, workspaceRoot }),
    overrideOf: () => undefined,
  }
}
