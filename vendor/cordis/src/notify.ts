import type { Context, Events } from 'cordis'

type Args<F> = F extends (...args: infer P) => unknown ? P : never

/**
 * Announces a fact. Every listener hears it, whatever the others do: a throw or a rejection is reported to the
 * logger and ends there. `target` narrows the audience to one scope (see `scopeTarget`).
 */
export function notify<K extends keyof Events & string>(ctx: Context, name: K, ...args: Args<Events[K]>): void
export function notify<K extends keyof Events & string>(
  ctx: Context,
  target: object,
  name: K,
  ...args: Args<Events[K]>
): void
export function notify(ctx: Context, ...args: unknown[]): void {
  for (const listener of ctx.events.dispatch('emit', args)) {
    try {
      const result: unknown = listener(...args)
      if (isPromiseLike(result)) result.then(undefined, (error: unknown) => ctx.logger.warn(error))
    } catch (error) {
      ctx.logger.warn(error)
    }
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
