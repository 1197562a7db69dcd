import { type FsService, type FsTarget, fsError, fsErrors, throwIfAborted } from '@dsh/fs'
import type { LocalFs } from '@dsh/fs-local'
import type { SandboxPolicy, SandboxPolicyService } from '@dsh/sandbox'
import { isHidden, mayWrite } from './containment.ts'

/**
 * The same backend behind the policy. For a mutation the name is resolved anew and judged, and the mutation runs on
 * that fresh target, never on the one that was resolved before. Reads pass, save of what the policy hides.
 */
export function fenced(inner: LocalFs, policies: SandboxPolicyService): FsService {
  async function admit(
    target: FsTarget,
    policy: SandboxPolicy | undefined,
    verb: string,
    signal?: AbortSignal,
  ): Promise<FsTarget> {
    throwIfAborted(signal, verb)
    const effective = policy ?? policies.resolve()
    if (effective.mode === 'danger-full-access') return target
    const fresh = await inner.resolve(target.displayPath, { verb })
    if (!mayWrite(fresh.targetKey, effective)) throw writeDenied(target, effective)
    return fresh
  }

  function look(target: FsTarget, verb: string): void {
    if (isHidden(target.targetKey, policies.resolve())) throw readDenied(target, verb)
  }

  return {
    ...inner,
    get sandboxMode() {
      return policies.defaultMode
    },
    async readText(target, signal) {
      look(target, 'read')
      return await inner.readText(target, signal)
    },
    async *streamText(target, signal) {
      look(target, 'read')
      yield* inner.streamText(target, signal)
    },
    async readBytes(target, signal, maxBytes) {
      look(target, 'read')
      return await inner.readBytes(target, signal, maxBytes)
    },
    async listDir(target, signal) {
      look(target, 'list')
      return await inner.listDir(target, signal)
    },
    async writeText(target, content, expected, signal, policy) {
      return await inner.writeText(await admit(target, policy, 'write', signal), content, expected, signal)
    },
    async editText(target, edit, expected, signal, policy) {
      return await inner.editText(await admit(target, policy, 'edit', signal), edit, expected, signal)
    },
    async patchText(target, chunks, expected, signal, policy, label) {
      return await inner.patchText(
        await admit(target, policy, 'update', signal),
        chunks,
        expected,
        signal,
        undefined,
        label,
      )
    },
    async deleteFile(target, expected, signal, policy) {
      return await inner.deleteFile(await admit(target, policy, 'delete', signal), expected, signal)
    },
    async moveFile(source, destination, chunks, expected, signal, policy, label) {
      const from = await admit(source, policy, 'move', signal)
      const to = await admit(destination, policy, 'write', signal)
      return await inner.moveFile(from, to, chunks, expected, signal, undefined, label)
    },
  }
}

function writeDenied(target: FsTarget, policy: SandboxPolicy): Error {
  return fsError(
    fsErrors.sandboxDenied,
    `cannot write "${target.displayPath}": file access denied under ${policy.mode} mode`,
  )
}

function readDenied(target: FsTarget, verb: string): Error {
  return fsError(fsErrors.permissionDenied, `cannot ${verb} "${target.displayPath}": permission denied`)
}
