import { DshError } from '@dsh/core'

export const presetErrors = {
  /** The table or the default cannot work in this composition; the row does not start. */
  configuration: 'PERMISSION_CONFIGURATION',
  unknownPreset: 'PERMISSION_UNKNOWN_PRESET',
} as const

export function presetError(code: (typeof presetErrors)[keyof typeof presetErrors], message: string): DshError {
  return new DshError(code, message, { name: 'PermissionError' })
}
