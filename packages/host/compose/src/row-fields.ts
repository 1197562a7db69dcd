import { isExpression } from './expression.ts'
import { isMapping, kindOf } from './mapping.ts'

export const ROW_KEYS = ['id', 'name', 'config', 'disabled', 'group', 'inject', 'isolate', 'intercept'] as const

/** What is wrong with the value of a row's key; undefined when nothing is. */
export function fieldProblem(key: string, value: unknown): string | undefined {
  if (value === null) return undefined
  switch (key) {
    case 'disabled':
      if (typeof value === 'boolean' || isExpression(value)) return undefined
      return `disabled must be true, false or an expression, not ${kindOf(value)}`
    case 'group':
      return typeof value === 'boolean' ? undefined : `group must be true or false, not ${kindOf(value)}`
    case 'inject':
      return isInject(value) ? undefined : 'inject must be a list of service names or a mapping of them'
    case 'intercept':
      return isMapping(value) ? undefined : `intercept must be a mapping of service names, not ${kindOf(value)}`
    case 'isolate':
      return isolateProblem(value)
    default:
      return undefined
  }
}

function isolateProblem(value: unknown): string | undefined {
  if (!isMapping(value)) return `isolate must be a mapping of service names, not ${kindOf(value)}`
  const bad = Object.entries(value).find(([, realm]) => realm !== true && (typeof realm !== 'string' || realm === ''))
  return bad === undefined ? undefined : `isolate.${bad[0]} must be true or a label, not ${kindOf(bad[1])}`
}

function isInject(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((name) => typeof name === 'string' && name !== '')
  return isMapping(value)
}
