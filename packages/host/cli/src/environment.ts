import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { DshError, errorCode, errorText } from '@dsh/core'
import type { EnvSource, LaunchEnvironment } from '@dsh/host'
import { isLaunchOnly } from './launch-only-names.ts'

interface EnvEntry {
  readonly value: string
  readonly source: EnvSource
  readonly path?: string
}

export interface EnvironmentOptions {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly home: string
  readonly warn: (line: string) => void
}

/**
 * The inherited environment, then `<cwd>/.env`, then the home's `.env`. What the files add is put into `env`, where
 * it was undefined; a name that only the launching environment may set refuses the launch before anything is applied.
 */
export function layerEnvironment({ env, cwd, home, warn }: EnvironmentOptions): LaunchEnvironment {
  const inherited = new Map(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : [])))
  const layers: (readonly [EnvSource, string])[] = [['project-env', join(cwd, '.env')]]
  if (!sameDirectory(cwd, home)) layers.push(['user-env', join(home, '.env')])
  const files = layers.map(([source, path]) => ({ source, path, values: readEnvFile(path, warn) }))
  for (const { path, values } of files) refuseLaunchOnly(path, values)

  const entries = new Map<string, EnvEntry[]>()
  const add = (name: string, entry: EnvEntry) => {
    if (entry.value !== '') entries.set(fold(name), [...(entries.get(fold(name)) ?? []), Object.freeze(entry)])
  }
  for (const [name, value] of inherited) add(name, { value, source: 'process' })
  for (const { source, path, values } of files) {
    for (const [name, value] of Object.entries(values)) {
      add(name, { value, source, path })
      env[name] ??= value
    }
  }
  return {
    get: (name) => entries.get(fold(name))?.[0]?.value,
    getFrom: (name, sources) => entries.get(fold(name))?.find((entry) => sources.includes(entry.source)),
  }
}

function readEnvFile(path: string, warn: (line: string) => void): Record<string, string> {
  try {
    return parseEnv(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as Record<string, string>
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') warn(`dsh: failed to load .env: ${errorText(error)}`)
    return {}
  }
}

function refuseLaunchOnly(path: string, values: Record<string, string>): void {
  const name = Object.keys(values).find(isLaunchOnly)
  if (name === undefined) return
  throw new DshError(
    'ENV_FILE',
    `${path} sets "${name}", which only the launching environment may set (it decides how this process starts, where its code and instructions load from, or how it reaches the network); export ${name} instead of putting it in a .env file`,
  )
}

function sameDirectory(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return false
  }
}

/** Windows knows one variable by every spelling. */
function fold(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name
}
