import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type {} from '@dsh/sandbox'
import type {} from '@dsh/spill-local'
import type {} from '@dsh/subprocess'
import type {} from '@dsh/system-prompt'
import type {} from '@dsh/tools'
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
  const visible = (tool: string, agent: Agent) => tools.get(tool, agent) !== undefined
  const guide = (tool: string, order: number, text: (agent: Agent) => string) =>
    ctx.systemPrompt.section({
      name: `tool:${tool}`,
      order,
      literal: true,
      text: (agent) => (visible(tool, agent) ? text(agent) : undefined),
    })

  tools.register(globTool(deps))
  guide('glob', 103, () => globGuidance(config))
  tools.register(grepTool(deps))
  guide('grep', 104, (agent) => grepGuidance(visible('read', agent)))
}
