import type { FsService, FsTarget } from '@dsh/fs'
import type { LocalFs } from '@dsh/fs-local'
import type { SandboxPolicy, SandboxPolicyService } from '@dsh/sandbox'
import { requireWritable } from './containment.ts'

/**
 * The same backend, with every mutation behind the policy: the name is resolved anew and judged, and the mutation
 * runs on that fresh target, never on the one that was resolved before. Reads pass.
 */
export function fenced(inner: LocalFs, policies: SandboxPolicyService): FsService {
  async function admit(target: FsTarget, policy: SandboxPolicy | undefined, signal?: AbortSignal): Promise<FsTarget> {
    const effective = policy ?? policies.resolve()
    if (effective.mode === 'danger-full-access') return target
    const fresh = await inner.resolve(target.displayPath, { signal, verb: 'write' })
    requireWritable(fresh, effective)
    return fresh
  }

  return {
    ...inner,
    get sandboxMode() {
      return policies.defaultMode
    },
    async writeText(target, content, expected, signal, policy) {
      return await inner.writeText(await admit(target, policy, signal), content, expected, signal)
    },
    async editText(target, edit, expected, signal, policy) {
      return await inner.editText(await admit(target, policy, signal), edit, expected, signal)
    },
    async patchText(target, chunks, expected, signal, policy, label) {
      return await inner.patchText(await admit(target, policy, signal), chunks, expected, signal, undefined, label)
    },
    async deleteFile(target, expected, signal, policy) {
      return await inner.deleteFile(await admit(target, policy, signal), expected, signal)
    },
    async moveFile(source, destination, chunks, expected, signal, policy, label) {
      const from = await admit(source, policy, signal)
      const to = await admit(destination, policy, signal)
      return await inner.moveFile(from, to, chunks, expected, signal, undefined, label)
    },
  }
}
