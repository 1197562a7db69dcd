import { ComposeError, type Problem } from './errors.ts'
import { isExpression } from './expression.ts'
import type { Layer, LayerSource, Patch } from './layer.ts'
import { isMapping, kindOf } from './mapping.ts'
import { parseYaml } from './yaml-dialect.ts'

const NAMESPACE = /^[a-z][a-z0-9-]*$/

/** Namespaces that mean a row of another id. */
const ROWS: Readonly<Record<string, string>> = { shell: 'bash-sandbox' }

/**
 * A settings file as a layer: each section is merged into the config of the row that its namespace names. Sections of
 * rows that this composition does not have are left alone.
 */
export function readSettings({ label, kind, file, text }: LayerSource): Layer {
  const { value, lines } = parseYaml(text, file)
  const problems: Problem[] = []
  const problem = (line: number | undefined, message: string) => {
    problems.push({ file, message, ...(line === undefined ? {} : { line }) })
  }
  const patches: Patch[] = []
  if (value !== undefined && value !== null && !isMapping(value)) {
    problem(1, `must be a mapping of namespaces, not ${kindOf(value)}`)
  }
  for (const [namespace, section] of isMapping(value) ? Object.entries(value) : []) {
    const line = lines.of(value as object, namespace)
    if (!NAMESPACE.test(namespace)) {
      problem(line, `"${namespace}" is no namespace: lower-case letters, digits and - only`)
    } else if (!isMapping(section)) {
      problem(line, `${namespace} must be a mapping, not ${kindOf(section)}`)
    } else if (hasExpression(section)) {
      problem(line, `${namespace} holds an expression; settings are plain values`)
    } else {
      const id = ROWS[namespace] ?? namespace
      patches.push({ id, set: {}, merge: section, optional: true, ...(line === undefined ? {} : { line }) })
    }
  }
  if (problems.length > 0) throw new ComposeError(problems)
  return Object.freeze({ label, kind, file, patches: Object.freeze(patches) })
}

function hasExpression(value: unknown): boolean {
  if (isExpression(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression)
}
