import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The home directory of dsh: `DSH_HOME`, blank counts as unset, `~` is expanded; else `~/.dsh`. */
export function resolveHome(env: NodeJS.ProcessEnv = process.env): string {
  const wanted = env['DSH_HOME']
  if (wanted === undefined || wanted.trim() === '') return join(homedir(), '.dsh')
  return resolve(wanted === '~' || /^~[/\\]/.test(wanted) ? join(homedir(), wanted.slice(1)) : wanted)
}
