import { Context } from 'cordis'

const key = Symbol.for('dsh.scope')

/** The owner (an agent, say) that registrations made through `ctx` belong to; undefined = everybody's. */
export function scopeOf(ctx: Context): object | undefined {
  return (ctx as unknown as Record<symbol, object | undefined>)[key]
}

export interface Scope {
  /** Registrations made through this context are visible to the owner only, and end with the scope. */
  readonly ctx: Context
  dispose(): Promise<void>
}

/** Opens a child context whose registrations belong to `owner`. */
export async function createScope(parent: Context, owner: object, name = 'scope'): Promise<Scope> {
  let ctx: Context | undefined
  const fiber = parent.plugin({
    name,
    apply: async (inner: Context) => {
      ctx = inner.extend({ [key]: owner })
    },
  })
  await fiber
  return { ctx: ctx as Context, dispose: () => fiber.dispose() }
}

/** The `this` of an event about `owner`: unscoped listeners hear it, scoped ones only if they belong to `owner`. */
export function scopeTarget(owner: object): object {
  return {
    [Context.filter]: (listener: Context) => {
      const scope = scopeOf(listener)
      return scope === undefined || scope === owner
    },
  }
}
