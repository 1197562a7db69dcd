import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { storeError } from './errors.ts'
import { defaultRoot, resolveRoot } from './paths.ts'
import { createPersistence } from './persistence.ts'
import { canWriteZstd } from './zstd.ts'

export { listSessions } from './listing.ts'
export { locateLog } from './locate.ts'
export { defaultRoot, encodeId, lockName, projectDir, rawName, resolveRoot, sessionDir, zstdName } from './paths.ts'
export { readLog, type StoredLog } from './read-log.ts'
export { type RepairReport, repairLog } from './repair.ts'
export { deleteLog, forkLog, renameLog, requiredLog } from './stored-logs.ts'
export { type VerifyReport, verifyLog } from './verify.ts'
export { type LockHolder, lockHolder } from './writer-lock.ts'
export { decompressLog } from './zstd.ts'

export const name = 'session-persistence-jsonl'
export const inject = ['sessions']

export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Absolute, `~` allowed. Default: `sessions` below the home. */
      root: z.string().optional(),
      /** Of new logs. Both encodings are always read. */
      compression: z.enum(['none', 'zstd']).default('none'),
      packChunks: z.boolean().default(true),
      writeBatchMaxDelayMs: z.int().min(1).max(2_147_483_647).default(200),
    })
    .prefault({}),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  if (config.compression === 'zstd' && !canWriteZstd())
    throw storeError('SESSION_STORE', 'session-persistence-jsonl: compression "zstd" needs Node 22.15 or newer')
  const homePath = ctx.get('dshHomePath') as ((...segments: string[]) => string) | undefined
  const persistence = createPersistence(ctx, ctx.sessions, {
    root: config.root === undefined ? (homePath?.('sessions') ?? defaultRoot()) : resolveRoot(config.root),
    encoding: config.compression === 'zstd' ? 'zstd' : 'jsonl',
    packChunks: config.packChunks,
    maxDelayMs: config.writeBatchMaxDelayMs,
  })
  ctx.provide('sessionPersistence', persistence)
  ctx.effect(() => () => persistence.close())
}
