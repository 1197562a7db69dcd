import { realpath } from 'node:fs/promises'
import { DshError } from '@dsh/core'

/**
 * The workspace must still be the directory that the policy was made for. In a shared temporary directory a command can
 * rename what lies above it and leave a link to anywhere in its place.
 */
export async function requireRoot(root: string): Promise<void> {
  const real = await realpath(root).catch(() => undefined)
  if (real === root) return
  throw new DshError(
    'SANDBOX_ROOT_MOVED',
    real === undefined
      ? `the workspace "${root}" is not there any more; refusing to run the command`
      : `the workspace "${root}" now leads to "${real}"; refusing to run the command`,
    { name: 'SandboxError' },
  )
}
