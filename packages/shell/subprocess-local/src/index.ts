import { tmpdir } from 'node:os'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type { SubprocessService } from '@dsh/subprocess'
import * as z from 'zod'
import { scrub } from './environment.ts'
import { findExecutable } from './executables.ts'
import { OwnedGroups } from './owned-groups.ts'
import { PipePool } from './pipe-pool.ts'
import { spawnProcess } from './spawn.ts'

export const name = 'subprocess-local'
export const Config = lazySchema(() => z.strictObject({}).default({}))

export async function apply(ctx: Context): Promise<void> {
  const searchPath = process.env['PATH'] ?? ''
  const owned = new OwnedGroups()
  const resolveExecutable = (program: string, avoid: readonly string[] = []) =>
    findExecutable(program, searchPath, ['/tmp', tmpdir(), ...avoid])
  const { env, removed } = scrub(process.env)
  const pipes = new PipePool(resolveExecutable('mkfifo', [process.cwd()]))
  let closing = false

  ctx.effect(() => {
    const killAll = () => owned.killAll()
    process.on('exit', killAll)
    return async () => {
      closing = true
      await owned.terminateAll()
      await pipes.close()
      process.off('exit', killAll)
    }
  })

  const service: SubprocessService = {
    spawn: async (spec) => {
      if (closing) throw new Error('no process is started while the program ends')
      return spawnProcess(spec, owned, pipes)
    },
    resolveExecutable,
    baseEnv: () => env,
    detachedMark: () => owned.markOf(),
    scrubbed: () => removed,
  }
  ctx.provide('subprocess', service)
}
