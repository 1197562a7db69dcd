import { type Expression, isExpression } from '@dsh/compose/core'
import { DshError, errorText } from '@dsh/core'

/** What expressions see: names in scope through `with`, `ctx` itself, the environment and the home. */
export interface ExpressionScope {
  readonly ctx: object
  readonly home: (path: string) => string
}

/** A copy of `value` in which every expression is replaced by what it gives now. */
export function interpolate(value: unknown, scope: ExpressionScope): unknown {
  if (isExpression(value)) return evaluate(value, scope)
  if (Array.isArray(value)) return value.map((item) => interpolate(item, scope))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, scope)]))
}

export function evaluate(expression: Expression, scope: ExpressionScope): unknown {
  if (expression.kind === 'env') return process.env[expression.source]
  if (expression.kind === 'home') return scope.home(expression.source)
  try {
    return run(scope.ctx, expression.source)
  } catch (error) {
    const at = expression.at === undefined ? '' : ` (${expression.at})`
    throw new DshError('EXPRESSION', `${errorText(error)} in ${expression.tag} ${expression.source}${at}`, {
      cause: error,
    })
  }
}

/**
 * Sloppy-mode eval, because the dialect promises bare service names through `with`.
 * The source has the authority of the process: a patch file is code.
 */
const run = new Function('ctx', 'source$', 'with (ctx) { return eval(source$) }') as (
  ctx: object,
  source: string,
) => unknown
