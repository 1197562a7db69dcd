import type { ToolDefinition } from './types.ts'

export interface RegisteredTool {
  readonly definition: ToolDefinition
  /** The row that brought it. */
  readonly row: string
}

export interface Mask {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface ToolLayers {
  /** Everybody's tools; masks narrow these. */
  readonly inherited: readonly RegisteredTool[]
  /** The agent's own: never masked, and they take the place of an inherited one of the same name. */
  readonly own: readonly RegisteredTool[]
  readonly masks: readonly Mask[]
}

/** What one agent may call. Masks intersect. */
export function visibleTools({ inherited, own, masks }: ToolLayers): ToolDefinition[] {
  const ownNames = new Set(own.map(({ definition }) => definition.name))
  const allowed = (name: string) =>
    masks.every(({ allow, deny }) => (allow?.includes(name) ?? true) && !(deny?.includes(name) ?? false))
  return [...inherited.filter(({ definition: { name } }) => !ownNames.has(name) && allowed(name)), ...own].map(
    ({ definition }) => definition,
  )
}
