import type { JsonObject } from '@dsh/core'
import type { Transcript } from './transcript.ts'
import { unifiedDiff } from './unified-diff.ts'

/** The model-visible texts of a log's request headers, as the two files beside a fixture hold them. */
export interface HeaderPins {
  /** The system prompts in order, parted by `<!-- request/header change N -->`. */
  readonly system: string
  readonly tools: { readonly initial: readonly JsonObject[]; readonly changes: readonly (readonly JsonObject[])[] }
}

export const pinFiles = { system: 'system-prompt.expected.md', tools: 'tool-schemas.expected.json' } as const

/** `called` keeps only the tools that the transcript calls, and no prompt. */
export function pinsOf(transcript: Transcript, which: 'all' | 'called'): HeaderPins {
  const headers = transcript.events
    .filter((event) => event.type === 'request/header')
    .map((event) => event.data['header'] as JsonObject)
  const called = calledTools(transcript)
  const toolsOf = (header: JsonObject) =>
    (Array.isArray(header['tools']) ? (header['tools'] as JsonObject[]) : []).filter(
      (tool) => which === 'all' || called.has(tool['name'] as string),
    )
  const [first, ...rest] = headers.map(toolsOf)
  return {
    system: which === 'called' ? '' : systemText(headers),
    tools: { initial: first ?? [], changes: rest },
  }
}

function systemText(headers: readonly JsonObject[]): string {
  const prompts = headers.map((header) => (typeof header['system'] === 'string' ? header['system'] : ''))
  return prompts
    .map((prompt, at) => (at === 0 ? `${prompt}\n` : `\n<!-- request/header change ${at} -->\n\n${prompt}\n`))
    .join('')
}

function calledTools(transcript: Transcript): Set<string> {
  return new Set(
    transcript.events.flatMap((event) => (event.type === 'tool/call' ? [event.data['name'] as string] : [])),
  )
}

export function toolsText(pins: HeaderPins): string {
  return `${JSON.stringify(pins.tools, null, 2)}\n`
}

/** One readable diff per file that says something else now. */
export function comparePins(expected: { system?: string; tools?: string }, actual: HeaderPins): string[] {
  const system =
    expected.system === undefined ? '' : unifiedDiff(expected.system, actual.system, labels('system prompt'))
  const tools =
    expected.tools === undefined ? '' : unifiedDiff(expected.tools, toolsText(actual), labels('tool schemas'))
  return [system, tools].filter((text) => text !== '')
}

function labels(what: string): { from: string; to: string } {
  return { from: `recorded ${what}`, to: `${what} now` }
}
