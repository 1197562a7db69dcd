import { DshError } from '@dsh/core'

export const patchErrors = {
  syntax: 'PATCH_SYNTAX',
  /** A link would be removed in the place of its target. */
  symlinkSource: 'PATCH_SYMLINK_SOURCE',
} as const

export function patchSyntax(message: string): DshError {
  return new DshError(patchErrors.syntax, message, { name: 'PatchToolError' })
}

export function symlinkSource(kind: string, label: string): DshError {
  return new DshError(patchErrors.symlinkSource, `cannot ${kind} "${label}": the path is a symbolic link`, {
    name: 'PatchToolError',
  })
}
