import type { Agent } from '@dsh/agent'
import { promptError, promptErrors } from './errors.ts'
import { fillTemplate, type PromptVariables } from './template.ts'
import type { ContextSection, PromptSection } from './types.ts'

/** Spoken sections in order, joined by blank lines; a `complete` one is the whole prompt. */
export function assemblePrompt(sections: readonly PromptSection[], agent: Agent, values: PromptVariables): string {
  const complete = completeSection(sections)
  return inOrder(complete === undefined ? sections : [complete])
    .map((section) => speak(section, agent, values))
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n')
}

export function completeSection(sections: readonly PromptSection[]): PromptSection | undefined {
  const [first, second] = sections.filter((section) => section.complete === true)
  if (first !== undefined && second !== undefined)
    throw promptError(
      promptErrors.twoComplete,
      `prompt sections "${first.name}" and "${second.name}" both claim to be the complete prompt`,
    )
  return first
}

export interface RuntimeContext {
  readonly text: string
  readonly sections: readonly { readonly name: string; readonly text: string }[]
}

/** The facts of this moment, as one user message; undefined when nobody has any. */
export function assembleContext(sections: readonly ContextSection[], agent: Agent): RuntimeContext | undefined {
  const spoken = inOrder(sections).flatMap((section) => {
    const text = section.text(agent)
    return text === undefined || text === '' ? [] : [{ name: section.name, text }]
  })
  if (spoken.length === 0) return undefined
  const intro = 'Current runtime context. This snapshot supersedes earlier runtime-context snapshots.'
  return { text: [intro, ...spoken.map(({ text }) => text)].join('\n\n'), sections: spoken }
}

/** What a snapshot says once no section has anything to say any more. */
export const clearedContext = 'Current runtime context: none. Earlier runtime-context snapshots no longer apply.'

function speak(section: PromptSection, agent: Agent, values: PromptVariables): string | undefined {
  const text = typeof section.text === 'string' ? section.text : section.text(agent)
  if (text === undefined || section.literal === true) return text
  return fillTemplate(text, values, section.name)
}

function inOrder<T extends { readonly order: number }>(sections: readonly T[]): T[] {
  return [...sections].sort((a, b) => a.order - b.order)
}
