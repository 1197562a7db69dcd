import { DshError } from '@dsh/core'

export const commandErrors = {
  duplicateName: 'DUPLICATE_COMMAND',
  invalidName: 'INVALID_COMMAND_NAME',
} as const

export function commandError(code: (typeof commandErrors)[keyof typeof commandErrors], message: string): DshError {
  return new DshError(code, message, { name: 'CommandError' })
}
