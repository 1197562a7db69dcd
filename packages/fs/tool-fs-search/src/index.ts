import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type {} from '@dsh/sandbox'
import type {} from '@dsh/spill-local'
import type {} from '@dsh/subprocess'
import type {} from '@dsh/system-prompt'
import { guide } from '@dsh/tools'
import { Config } from './caps.ts'
import type { SearchDeps } from './deps.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { saveList } from './saved-list.ts'
import { globGuidance, grepGuidance } from './texts.ts'

export { searchErrors } from './errors.ts'
export { ripgrepPath } from './ripgrep.ts'
export { Config }

export const name = 'tool-fs-search'
export const inject = ['tools', 'systemPrompt', 'subprocess']

export async function apply(ctx: Context, config: Config): Promise<void> {
  const { tools } = ctx
  const deps: SearchDeps = {
    config,
    processes: ctx.subprocess,
    hiddenPaths: (exec) => ctx.get('sandboxPolicy')?.resolve({ session: exec.agent?.session }).hiddenPaths ?? [],
    save: (content, exec) => saveList(ctx.get('spillStore'), content, exec, (error) => ctx.logger.warn(error)),
  }
  tools.register(globTool(deps))
  guide(ctx, { tool: 'glob', order: 103, text: () => globGuidance(config) })
  tools.register(grepTool(deps))
  const canRead = (agent: Agent) => tools.get('read', agent) !== undefined
  guide(ctx, { tool: 'grep', order: 104, text: (agent) => grepGuidance(canRead(agent)) })
}
