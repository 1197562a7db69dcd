import { presetError, presetErrors } from './errors.ts'
import type { PermissionPreset } from './types.ts'

export type PresetTable = Readonly<Record<string, PermissionPreset>>

/** The name of whatever the table does not hold. */
export const customName = 'custom'

export function checkTable(table: PresetTable): void {
  if (customName in table)
    throw presetError(
      presetErrors.configuration,
      'permission: "custom" is reserved for the derived not-a-preset state and cannot name a table entry',
    )
}

export function resolvePreset(table: PresetTable, name: string): PermissionPreset {
  const preset = Object.hasOwn(table, name) ? table[name] : undefined
  if (preset !== undefined) return preset
  const known = Object.keys(table).join(', ')
  throw presetError(presetErrors.unknownPreset, `permission: unknown preset "${name}" (known: ${known})`)
}

/** The first name whose two values these are. */
export function nameOf(table: PresetTable, values: PermissionPreset): string | undefined {
  return Object.keys(table).find((name) => same(table[name] as PermissionPreset, values))
}

/** The recorded name as long as it still tells the truth, else the first that does, else `custom`. */
export function currentName(table: PresetTable, recorded: string | undefined, values: PermissionPreset): string {
  const chosen = recorded === undefined || !Object.hasOwn(table, recorded) ? undefined : table[recorded]
  if (recorded !== undefined && chosen !== undefined && same(chosen, values)) return recorded
  return nameOf(table, values) ?? customName
}

function same(a: PermissionPreset, b: PermissionPreset): boolean {
  return a.sandbox === b.sandbox && a.approval === b.approval
}
