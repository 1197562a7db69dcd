import type { Fold, Session } from '@dsh/session'
import type { ApprovalPolicy } from '@dsh/user-approval'
import { currentName, customName, type PresetTable, resolvePreset } from './table.ts'
import type { PermissionPreset, PermissionPresetsService } from './types.ts'

interface Recorded {
  readonly preset?: string
  readonly sandbox?: string
  readonly approval?: ApprovalPolicy
}

const recordedFold: Fold<Recorded> = {
  initial: () => ({}),
  apply: (recorded, event) => {
    if (event.type === 'permission/preset') return { ...recorded, preset: event.data.preset }
    if (event.type === 'sandbox/mode') return { ...recorded, sandbox: event.data.mode }
    if (event.type === 'approval/policy') return { ...recorded, approval: event.data.policy }
    return recorded
  },
}

export interface PresetsHost {
  readonly table: PresetTable
  readonly defaultPreset: () => string
  /** What holds where a session says nothing. */
  readonly composed: PermissionPreset
}

export interface Presets extends PermissionPresetsService {
  /** Writes what a session does not say yet, so that later defaults leave it alone. */
  pin(session: Session): void
}

export function createPresets({ table, defaultPreset, composed }: PresetsHost): Presets {
  const valuesOf = (session: Session): PermissionPreset => {
    const { sandbox, approval } = session.fold(recordedFold)
    return {
      sandbox: (sandbox as PermissionPreset['sandbox'] | undefined) ?? composed.sandbox,
      approval: approval ?? composed.approval,
    }
  }
  const current = (session: Session) => currentName(table, session.fold(recordedFold).preset, valuesOf(session))

  return {
    names: Object.keys(table),
    get defaultPreset() {
      return defaultPreset()
    },
    current,
    resolve: (name) => resolvePreset(table, name),
    set(session, name) {
      const preset = resolvePreset(table, name)
      if (current(session) === name) return
      session.append('permission/preset', { preset: name })
      session.append('sandbox/mode', { mode: preset.sandbox })
      session.append('approval/policy', { policy: preset.approval })
    },
    optionOf(name) {
      if (name === customName) return { name, displayName: 'Custom', ...composed }
      const preset = Object.hasOwn(table, name) ? table[name] : undefined
      return preset === undefined ? undefined : { name, displayName: name, ...preset }
    },
    pin(session) {
      const recorded = session.fold(recordedFold)
      const name = defaultPreset()
      const preset = resolvePreset(table, name)
      const isNew = recorded.sandbox === undefined && recorded.approval === undefined
      if (recorded.preset === undefined && isNew) session.append('permission/preset', { preset: name })
      if (recorded.sandbox === undefined) session.append('sandbox/mode', { mode: preset.sandbox })
      if (recorded.approval === undefined) session.append('approval/policy', { policy: preset.approval })
    },
  }
}
