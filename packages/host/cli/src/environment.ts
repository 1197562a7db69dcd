import type { LaunchEnvironment } from '@dsh/host'

/** The environment that the program was started with. */
export function launchEnvironment(): LaunchEnvironment {
  const get = (name: string) => process.env[name] || undefined
  return {
    get,
    getFrom(name, sources) {
      const value = get(name)
      return value === undefined || !sources.includes('process') ? undefined : { value, source: 'process' }
    },
  }
}
