import type {} from '@dsh/commands'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/sandbox'
import type {} from '@dsh/session'
import type {} from '@dsh/shell'
import type {} from '@dsh/user-approval'
import * as z from 'zod'
import { permissionCommand } from './command.ts'
import { presetError, presetErrors } from './errors.ts'
import { createPresets } from './service.ts'
import { checkTable, nameOf, resolvePreset } from './table.ts'
import type { PermissionPreset, PermissionPresetsService } from './types.ts'

export { presetErrors } from './errors.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    permissionPresets: PermissionPresetsService
  }
}

export const name = 'permission-presets'
export const inject = ['shell', 'approval', 'sessions', 'sandboxPolicy']

const preset = () =>
  z.strictObject({
    sandbox: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
    approval: z.enum(['ask', 'never']),
  })

export const Config = lazySchema(() =>
  z.strictObject({
    /** Named pairs of sandbox mode and approval policy, in the order people see them. */
    presets: z.record(z.string().min(1), preset()).default({
      'workspace-write': { sandbox: 'workspace-write', approval: 'ask' },
      'danger-full-access': { sandbox: 'danger-full-access', approval: 'never' },
    }),
    /** Of new sessions; default: the preset that equals the composed sandbox and approval defaults. */
    defaultPreset: z.string().min(1).optional(),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  if (ctx.shell.sandboxMode === undefined)
    ctx.logger.info('the mounted bash executor does not confine (no sandboxMode): presets govern the file tools only')
  checkTable(config.presets)
  const composed: PermissionPreset = {
    sandbox: ctx.sandboxPolicy.defaultMode,
    approval: ctx.approval.defaultPolicy,
  }
  const fallback = config.defaultPreset ?? nameOf(config.presets, composed)
  if (fallback === undefined)
    throw presetError(
      presetErrors.configuration,
      'permission: composed sandbox and approval defaults match no preset; configure defaultPreset explicitly',
    )
  resolvePreset(config.presets, fallback)

  const presets = createPresets({ table: config.presets, composed, defaultPreset: () => fallback })
  ctx.provide('permissionPresets', presets)
  ctx.on('session/created', (session) => presets.pin(session))
  ctx.inject(['commands'], async (inner) => {
    inner.commands.register(permissionCommand(presets))
  })
}
