import type { Agent } from '@dsh/agent'
import { type Context, Service, scopeOf } from '@dsh/cordis'
import { assembleContext, assemblePrompt, completeSection, type RuntimeContext } from './assembly.ts'
import { promptError, promptErrors } from './errors.ts'
import type { PromptVariables } from './template.ts'
import type { ContextSection, PromptSection, SystemPromptService } from './types.ts'

interface Entry<T> {
  /** The agent it belongs to; undefined = every agent's. */
  readonly owner: object | undefined
  readonly section: T
}

export class SystemPrompt extends Service implements SystemPromptService {
  private readonly prompts: Entry<PromptSection>[] = []
  private readonly contexts: Entry<ContextSection>[] = []

  constructor(ctx: Context) {
    super(ctx, 'systemPrompt')
  }

  section(section: PromptSection): () => void {
    return this.add(this.prompts, section, 'prompt section')
  }

  context(section: ContextSection): () => void {
    return this.add(this.contexts, section, 'context section')
  }

  assemble(agent: Agent, values: PromptVariables): string {
    return assemblePrompt(visible(this.prompts, agent), agent, values)
  }

  runtimeContext(agent: Agent): RuntimeContext | undefined {
    if (completeSection(visible(this.prompts, agent))?.includeRuntimeContext === false) return undefined
    return assembleContext(visible(this.contexts, agent), agent)
  }

  private add<T extends { readonly name: string }>(list: Entry<T>[], section: T, what: string): () => void {
    const owner = scopeOf(this.ctx)
    return this.ctx.effect(() => {
      if (list.some((entry) => entry.owner === owner && entry.section.name === section.name))
        throw promptError(promptErrors.duplicateSection, `${what} "${section.name}" is already registered`)
      const entry = { owner, section }
      list.push(entry)
      return () => void list.splice(list.indexOf(entry), 1)
    }, `${what} ${section.name}`)
  }
}

/** An agent's own section of a name takes the place of everybody's. */
function visible<T extends { readonly name: string }>(list: readonly Entry<T>[], agent: Agent): T[] {
  const own = new Set(list.filter(({ owner }) => owner === agent).map(({ section }) => section.name))
  return list
    .filter(({ owner, section }) => owner === agent || (owner === undefined && !own.has(section.name)))
    .map(({ section }) => section)
}
