import type { AgentLimits } from '@dsh/agent'

/** Steps in a row that call the same tools with the same arguments and get the same results. */
export const maxIdenticalSteps = 20

/** Calls that take longer are waiting for something: a job that is asked for again and again is no runaway. */
export const waitingMs = 5000

export interface LimitHit {
  readonly limit: 'max-turns' | 'max-wall-time' | 'max-budget' | 'identical-steps' | 'degenerate-output' | 'output-size'
  readonly value: number
  readonly max: number
  /** One line for people; the turn ends with it as its reason. */
  readonly reason: string
}

export interface TurnUse {
  /** Steps that asked the model. */
  readonly requests: number
  readonly elapsedMs: number
  readonly spentUsd: number | undefined
  readonly identicalSteps: number
}

/** Which limit forbids another request in this turn, if any. */
export function limitReached(limits: AgentLimits, use: TurnUse): LimitHit | undefined {
  const { maxTurns, maxWallMs, maxBudgetUsd } = limits
  if (maxTurns !== undefined && use.requests >= maxTurns)
    return {
      limit: 'max-turns',
      value: use.requests,
      max: maxTurns,
      reason: `the limit of ${maxTurns} model ${maxTurns === 1 ? 'request' : 'requests'} per turn is reached`,
    }
  if (maxWallMs !== undefined && use.elapsedMs >= maxWallMs) return wallTimeHit(maxWallMs, use.elapsedMs)
  if (maxBudgetUsd !== undefined && use.spentUsd !== undefined && use.spentUsd >= maxBudgetUsd)
    return {
      limit: 'max-budget',
      value: use.spentUsd,
      max: maxBudgetUsd,
      reason: `the budget of $${maxBudgetUsd} is used up ($${Number(use.spentUsd.toPrecision(3))} spent)`,
    }
  if (use.identicalSteps >= maxIdenticalSteps)
    return {
      limit: 'identical-steps',
      value: use.identicalSteps,
      max: maxIdenticalSteps,
      reason: `the model made the same call with the same result ${use.identicalSteps} times in a row`,
    }
  return undefined
}

export function wallTimeHit(maxMs: number, elapsedMs: number): LimitHit {
  return {
    limit: 'max-wall-time',
    value: Math.round(elapsedMs),
    max: maxMs,
    reason: `the time limit of ${maxMs / 1000} s is reached`,
  }
}
