import type { Command } from '@dsh/commands'
import type { PermissionPresetsService } from './types.ts'

/** `/permission`: what holds, or something else from now on. */
export function permissionCommand(presets: PermissionPresetsService): Command {
  const available = () => `(available: ${presets.names.join(', ')})`
  return {
    name: 'permission',
    description: 'show or change what the agent may touch',
    usage: `[${presets.names.join('|')}]`,
    complete: (_agent, prefix) => presets.names.filter((name) => name.startsWith(prefix)),
    async run({ agent, args }) {
      if (args === '')
        return { kind: 'success', text: `current preset ${presets.current(agent.session)} ${available()}` }
      if (!presets.names.includes(args)) return { kind: 'error', text: `unknown preset "${args}" ${available()}` }
      presets.set(agent.session, args)
      return { kind: 'success', text: `preset ${args}` }
    },
  }
}
