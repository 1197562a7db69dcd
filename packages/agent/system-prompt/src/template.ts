import { promptError, promptErrors } from './errors.ts'

/** The variables a prompt text may name. */
export interface PromptVariables {
  readonly provider?: string
  readonly model?: string
  readonly cwd?: string
}

const known = ['provider', 'model', 'cwd'] as const
const braces = /\{\{([\s\S]*?)(\}\}|$)/g
const variableName = /^[a-z][a-z0-9_]*$/

/** Fills in `{{name}}`. A name that is misspelled, unknown or without a value is an error, never an empty string. */
export function fillTemplate(text: string, values: PromptVariables, section: string): string {
  if (!text.includes('{{')) return text
  return text.replace(braces, (whole: string, name: string, close: string) => {
    const where = `in prompt section "${section}"`
    if (close === '' || !variableName.test(name))
      throw promptError(promptErrors.malformedVariable, `malformed variable ${JSON.stringify(whole)} ${where}`)
    if (!isKnown(name))
      throw promptError(
        promptErrors.unknownVariable,
        `unknown variable {{${name}}} ${where} (known: ${known.join(', ')})`,
      )
    const value = values[name]
    if (value === undefined)
      throw promptError(promptErrors.missingValue, `variable {{${name}}} ${where} has no value here`)
    return value
  })
}

function isKnown(name: string): name is (typeof known)[number] {
  return (known as readonly string[]).includes(name)
}
