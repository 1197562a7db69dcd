import { assertNever } from '@dsh/core'
import type { SandboxPolicy } from '@dsh/sandbox'

/** What a policy comes down to before any path of it is looked up. */
export type PolicyStance = Pick<SandboxPolicy, 'mode' | 'workspaceRoot' | 'network'>

/** What the model is told about the policy of its calls, in the runtime context. */
export function policyText(policy: PolicyStance): string {
  const { mode } = policy
  const network = policy.network === 'none' && mode !== 'danger-full-access' ? ' Commands have no network access.' : ''
  switch (mode) {
    case 'read-only':
      return `Current DSH file policy: read-only. The DSH file sandbox denies file modifications by available operations. Attempt what the task needs as usual and follow the guidance of a denial.${network}`
    case 'workspace-write':
      return `Current DSH file policy: workspace-write. Any available operation enforced by the DSH file sandbox may modify files under the session workspace: ${JSON.stringify(policy.workspaceRoot)}. Some platform temporary areas may also be writable.${network}`
    case 'danger-full-access':
      return 'Current DSH file policy: danger-full-access. The DSH file sandbox does not restrict file modifications by available operations.'
    default:
      return assertNever(mode)
  }
}
