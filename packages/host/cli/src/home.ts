import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { DshError, errorCode, errorText } from '@dsh/core'

/** The home directory of dsh: `DSH_HOME`, blank counts as unset, `~` is expanded; else `~/.dsh`. */
export function resolveHome(env: NodeJS.ProcessEnv = process.env): string {
  const wanted = env['DSH_HOME']
  if (wanted === undefined || wanted.trim() === '') return join(homedir(), '.dsh')
  return resolve(wanted === '~' || /^~[/\\]/.test(wanted) ? join(homedir(), wanted.slice(1)) : wanted)
}

/** The same, where something is to be read or kept there: what stands in its place, or may not be entered, is refused. */
export function openHome(): string {
  const home = resolveHome()
  let found: ReturnType<typeof statSync> | undefined
  try {
    found = statSync(home, { throwIfNoEntry: false })
  } catch (error) {
    throw homeFault(home, error)
  }
  if (found?.isDirectory() === false) throw unusable(home, 'not a directory')
  return home
}

/** What to throw when the home could not be written. */
export function homeFault(home: string, error: unknown): unknown {
  return errorCode(error) === undefined ? error : unusable(home, withoutPath(error))
}

/** A system error's reason without the call and the path that Node puts behind it. */
export function withoutPath(error: unknown): string {
  return errorText(error).replace(/, [a-z]+(?: '.*')?$/, '')
}

function unusable(home: string, reason: string): DshError {
  const wanted = process.env['DSH_HOME'] ?? ''
  return new DshError('HOME', `${wanted.trim() === '' ? home : `DSH_HOME=${wanted}`} cannot be used: ${reason}`)
}
