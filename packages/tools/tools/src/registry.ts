import type { Agent } from '@dsh/agent'
import { type Context, notify, Service, scopeOf } from '@dsh/cordis'
import type { ToolSchema } from '@dsh/llm'
import { parseArguments } from './arguments.ts'
import { toolError, toolErrors } from './errors.ts'
import { admit, type PipelineHost } from './pipeline.ts'
import { assertSupportedSchema } from './schema-subset.ts'
import type { Guard } from './stages/guards.ts'
import type { AdmittedCall, ToolCallInput, ToolDefinition, ToolResult, ToolsService } from './types.ts'
import { type Mask, type RegisteredTool, visibleTools } from './visibility.ts'

interface Owned<T> {
  /** The agent it belongs to; undefined = every agent's. */
  readonly owner: object | undefined
  readonly item: T
}

interface View {
  readonly byName: ReadonlyMap<string, ToolDefinition>
  readonly schemas: readonly ToolSchema[]
}

/** Who offers which tool to whom. Registrations end with the row that made them. */
export class Tools extends Service implements ToolsService {
  private readonly tools: Owned<RegisteredTool>[] = []
  private readonly masks: Owned<Mask>[] = []
  private readonly guards: Owned<Guard>[] = []
  private readonly home: Context
  private readonly pipeline: PipelineHost
  /** What each agent sees, until the next change: it is looked up several times a step. */
  private views = new WeakMap<object, View>()

  constructor(ctx: Context) {
    super(ctx, 'tools')
    this.home = ctx
    this.pipeline = {
      ctx,
      definition: ({ name, agent }) => this.lookUp(name, agent),
      guards: ({ agent }) =>
        [
          ...this.guards.filter(({ owner }) => owner === undefined),
          ...this.guards.filter(({ owner }) => owner !== undefined && owner === agent),
        ].map(({ item }) => item),
    }
  }

  register<A, V>(definition: ToolDefinition<A, V>): () => void {
    checkDefinition(definition)
    const entry = { owner: scopeOf(this.ctx), item: { definition, row: this.ctx.fiber.name } }
    return this.ctx.effect(() => {
      this.refuseDuplicate(entry)
      return this.add(this.tools, entry)
    }, `tool ${definition.name}`)
  }

  restrict(mask: Mask): () => void {
    const owner = scopeOf(this.ctx)
    if (owner === undefined)
      throw toolError(toolErrors.invalidRestriction, "tools.restrict() works through an agent's `agent.ctx` only")
    if (mask.allow === undefined && mask.deny === undefined)
      throw toolError(toolErrors.invalidRestriction, 'tools.restrict() needs an allow or a deny list')
    const known = this.tools.filter((tool) => tool.owner === undefined).map(({ item }) => item.definition.name)
    const unknown = [...(mask.allow ?? []), ...(mask.deny ?? [])].filter((name) => !known.includes(name))
    if (unknown.length > 0)
      throw toolError(
        toolErrors.invalidRestriction,
        `tools.restrict() names unknown tools: ${unknown.join(', ')}; known global tools: ${known.sort().join(', ') || '(none)'}`,
      )
    return this.ctx.effect(() => this.add(this.masks, { owner, item: mask }), 'tool restriction')
  }

  guard(check: Guard): () => void {
    const entry = { owner: scopeOf(this.ctx), item: check }
    return this.ctx.effect(() => {
      this.guards.push(entry)
      return () => void this.guards.splice(this.guards.indexOf(entry), 1)
    }, 'tool guard')
  }

  get(name: string, agent?: Agent): ToolDefinition | undefined {
    return this.lookUp(name, agent)
  }

  schemas(agent?: Agent): readonly ToolSchema[] {
    return this.view(agent).schemas
  }

  executionMode(input: Pick<ToolCallInput, 'name' | 'arguments' | 'agent'>): 'parallel' | 'exclusive' {
    const definition = this.lookUp(input.name, input.agent)
    const parsed = parseArguments(input.arguments)
    if (definition?.isConcurrencySafe === undefined || parsed.kind === 'lossy') return 'exclusive'
    try {
      return definition.isConcurrencySafe(parsed.value) === true ? 'parallel' : 'exclusive'
    } catch {
      return 'exclusive'
    }
  }

  admit(input: ToolCallInput): Promise<AdmittedCall> {
    return admit(this.pipeline, input)
  }

  async execute(input: ToolCallInput): Promise<ToolResult> {
    const call = await admit(this.pipeline, input)
    return call.finish()
  }

  private lookUp(name: string, agent: Agent | undefined): ToolDefinition | undefined {
    return this.view(agent).byName.get(name)
  }

  private view(agent: Agent | undefined): View {
    const key = agent ?? this.home
    const known = this.views.get(key)
    if (known !== undefined) return known
    const of = <T>(list: readonly Owned<T>[], owner: object | undefined) =>
      list.filter((entry) => entry.owner === owner).map(({ item }) => item)
    const visible = visibleTools({
      inherited: of(this.tools, undefined),
      own: agent === undefined ? [] : of(this.tools, agent),
      masks: agent === undefined ? [] : of(this.masks, agent),
    }).sort((a, b) => (a.name < b.name ? -1 : 1))
    const view = {
      byName: new Map(visible.map((definition) => [definition.name, definition])),
      schemas: Object.freeze(visible.map(({ name, description, parameters }) => ({ name, description, parameters }))),
    }
    this.views.set(key, view)
    return view
  }

  private add<T>(list: Owned<T>[], entry: Owned<T>): () => void {
    list.push(entry)
    this.changed()
    return () => {
      list.splice(list.indexOf(entry), 1)
      this.changed()
    }
  }

  private changed(): void {
    this.views = new WeakMap()
    notify(this.home, 'tools/change')
  }

  private refuseDuplicate({ owner, item }: Owned<RegisteredTool>): void {
    const { name } = item.definition
    const first = this.tools.find((tool) => tool.owner === owner && tool.item.definition.name === name)
    if (first === undefined) return
    const rows = `by row "${first.item.row}"; row "${item.row}" cannot register it again`
    throw toolError(
      toolErrors.duplicateName,
      owner === undefined
        ? `tool "${name}" is already registered (for a per-agent variant, register through that agent's \`agent.ctx\` instead), ${rows}`
        : `tool "${name}" is already registered in this scope, ${rows}`,
    )
  }
}

function checkDefinition({ name, parameters, output, timeoutMs }: ToolDefinition): void {
  if (name === 'run_code')
    throw new TypeError(
      'tool name "run_code" is reserved for the Code Mode presentation transport and cannot be registered or shadowed',
    )
  if (typeof output?.render !== 'function' || output.schema === undefined)
    throw new TypeError(`tool "${name}" must declare output { schema, render, presentationMeta? }`)
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    throw new TypeError(`tool "${name}" timeoutMs must be a positive finite number`)
  assertSupportedSchema(parameters, 'parameters')
  assertSupportedSchema(output.schema, 'output')
}
