import { DshError } from '@dsh/core'

export type SettingsCode = 'SETTINGS_INVALID' | 'SETTINGS_CONFLICT' | 'SETTINGS_NAMESPACE'

export function settingsError(code: SettingsCode, message: string): DshError {
  return new DshError(code, `settings-file: ${message}`, { name: 'SettingsError' })
}
