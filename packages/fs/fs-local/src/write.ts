import type { FsTarget, FsWriteIntent, FsWriteOutcome } from '@dsh/fs'
import { type Backend, basisText, changedBytes, checkIntent, linksOf, remember } from './backend.ts'
import { examine } from './current.ts'
import { publish } from './publish.ts'
import { toLf } from './text.ts'

export async function writeFile(
  target: FsTarget,
  content: string | Uint8Array,
  intent: FsWriteIntent | undefined,
  backend: Backend,
  signal?: AbortSignal,
): Promise<FsWriteOutcome> {
  const { io, locks, seen, diffBasisMaxBytes } = backend
  return await locks.with([target.targetKey], 'write', signal, async () => {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)
    const basis = bytes.length < diffBasisMaxBytes ? diffBasisMaxBytes - 1 : -1
    const expected = intent?.kind === 'replaceIfVersion' ? intent.version : undefined
    const old = await examine({ target, verb: 'write', readUpTo: basis, expected, signal }, io, seen)
    checkIntent(target, old, intent, seen)
    const how = intent === undefined ? 'force' : old === undefined ? 'create' : 'replace'
    const version = await publish({ target, bytes, verb: 'write', old: old?.stat, how, signal }, io, backend.staging)
    remember(target, version, bytes, backend)
    return {
      operation: old === undefined ? 'create' : 'update',
      version,
      before: old?.bytes === undefined || basis < 0 ? null : basisText(old.bytes, diffBasisMaxBytes),
      after: toLf(typeof content === 'string' ? content : bytes.toString('utf8')),
      bytes: changedBytes(old, bytes, diffBasisMaxBytes),
      ...linksOf(old),
    }
  })
}
