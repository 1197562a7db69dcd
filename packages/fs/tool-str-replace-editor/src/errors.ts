import { DshError, isDshError } from '@dsh/core'
import { type FsTarget, fsError, fsErrors } from '@dsh/fs'
import { deniedMarker, type SandboxMode } from '@dsh/sandbox'
import { toolError, toolErrors } from '@dsh/tools'

export function requireAbsolute(path: string): void {
  if (path.trim() === '') throw new Error('path must be a non-empty string')
  if (!path.startsWith('/'))
    throw new Error(`The path ${path} is not an absolute path, it should start with \`/\`. Maybe you meant /${path}?`)
}

export function required<T>(value: T | undefined, name: string, command: string): T {
  if (value === undefined) throw new Error(`Parameter \`${name}\` is required for command: ${command}`)
  return value
}

/** A null that asks for a deletion is more likely a mistake. */
export function refuseNullReplacement(raw: unknown): void {
  if (typeof raw === 'object' && raw !== null && (raw as { new_str?: unknown }).new_str === null)
    throw toolError(toolErrors.invalidArgs, 'invalid arguments: "new_str" must be a string')
}

export function missing(target: FsTarget): Error {
  return fsError(fsErrors.notFound, `The path ${target.displayPath} does not exist. Please provide a valid path.`)
}

export function isDirectory(target: FsTarget): Error {
  return fsError(
    fsErrors.notRegularFile,
    `The path ${target.displayPath} is a directory and only the \`view\` command can be used on directories`,
  )
}

export function notRegular(target: FsTarget, what: string): Error {
  return fsError(fsErrors.notRegularFile, `cannot ${what} "${target.displayPath}": not a regular file`)
}

/** A denial reads as its marker alone; hints of the backend are dropped, its texts are this tool's own. */
export function spoken(error: unknown, mode: SandboxMode | undefined): unknown {
  if (!isDshError(error)) return error
  const denied = error.code === fsErrors.sandboxDenied && mode !== undefined
  return new DshError(error.code, denied ? deniedMarker(mode) : error.message, { name: error.name, cause: error })
}
