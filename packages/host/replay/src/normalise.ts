import type { JsonObject, JsonValue } from '@dsh/core'
import { healDeltas, mapStrings, type Span, spansOf } from './placeholders.ts'
import type { RecordedEvent, Transcript } from './transcript.ts'

/** What differs between two runs of the same session, and is therefore not compared. */
export interface Volatile {
  /** Spellings of the working directory, and of the scratch home; longest match wins. */
  readonly cwd: readonly string[]
  readonly home?: readonly string[]
  readonly sessionIds?: readonly string[]
  /** A fixture's own rules: timings that its test runner prints, say. */
  readonly rules?: readonly NormaliseRule[]
}
export interface NormaliseRule {
  readonly pattern: string
  readonly replace: string
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const spillPath = /[^\s"'`<>()[\]]*[/\\]session-[0-9a-f]{12}[/\\][0-9a-f]{12}-([\w.-]*\w)/g
/** What a command said beyond what is kept: `captures/<pid>-<hex>/<pid>-<n>-<hex>-stdout.log`. */
const capturePath = /[^\s"'`<>()[\]]*[/\\]captures[/\\][\w-]+[/\\][\w-]+-(stdout|stderr)\.log/g
/** Either of them. */
export const locatorPattern = new RegExp(`${spillPath.source}|${capturePath.source}`, 'g')
const zeroed = new Set([
  'durationMs',
  'createdAt',
  'updatedAt',
  'clearedAt',
  'startedAt',
  'endedAt',
  'finishedAt',
  'pid',
])

/** The transcript with everything volatile replaced by tokens. Normalising twice changes nothing. */
export function normalise(transcript: Transcript, volatile: Volatile): Transcript {
  const header = transcript.header
  const own = typeof header['cwd'] === 'string' && header['cwd'] !== '{{cwd}}' ? [header['cwd']] : []
  const text = textNormaliser({
    ...volatile,
    cwd: [...volatile.cwd, ...own],
    sessionIds: [...(volatile.sessionIds ?? []), ...(typeof header['id'] === 'string' ? [header['id']] : [])],
  })
  const healed = healDeltas(transcript.events, text.spans)
  return {
    header: zero(mapStrings(header, text.replace)) as JsonObject,
    events: healed.map((event) => normaliseEvent(event, text.replace)),
  }
}

function normaliseEvent(event: RecordedEvent, replace: (text: string) => string): RecordedEvent {
  const data = zero(mapStrings(event.data, replace)) as JsonObject
  const fields = volatileFields(event.type, data)
  return { ...event, time: 0, data: event.type === 'tool/result' ? withoutSizes(event.data, fields) : fields }
}

/** Fields whose value no second run can repeat. */
function volatileFields(type: string, data: JsonObject): JsonObject {
  if (type === 'request/digest') return { ...data, digest: '{{digest}}', headerDigest: '{{digest}}' }
  if (type === 'llm/retry' && jitters(data['policyKey'])) return { ...data, delayMs: 0 }
  // A digest over absolute paths.
  if (isObject(data['source']) && 'baselineIdentity' in data['source'])
    return { ...data, source: { ...data['source'], baselineIdentity: '{{digest}}' } }
  if (type === 'tool/result') return withoutMachineFacts(data)
  if (type === 'request/header') return { ...data, header: tokenised(data['header'] as JsonObject) }
  return data
}

/** In which pieces output arrived is chance; which rung ran a command, and what it covers, is the machine's. */
function withoutMachineFacts(data: JsonObject): JsonObject {
  const meta = data['meta']
  if (!isObject(meta)) return data
  const { arrivals, sandbox, ...kept } = meta
  if (!isObject(sandbox)) return { ...data, meta: kept }
  const { rung, enforcement, notCovered, ...mode } = sandbox
  return { ...data, meta: { ...kept, sandbox: mode } }
}

/** Output that holds a path, a date or the like is as long as those are here; otherwise its length counts. */
function withoutSizes(raw: JsonObject, data: JsonObject): JsonObject {
  const { meta, message } = data
  const text = JSON.stringify(message)
  if (!isObject(meta) || (!text.includes('{{') && text === JSON.stringify(raw['message']))) return data
  const streams = ['stdout', 'stderr'].flatMap((name) => (isObject(meta[name]) ? [[name, meta[name]] as const] : []))
  const sized = streams.map(([name, stream]) => [name, { ...(stream as JsonObject), bytes: 0 }] as const)
  return { ...data, meta: { ...meta, ...Object.fromEntries(sized) } }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Prompt and schemas are compared through files of their own. */
export const headerTokens: Readonly<Record<string, string>> = { system: '{{system}}', tools: '{{tools}}' }

function tokenised(header: JsonObject): JsonObject {
  const entries = Object.entries(header)
  return Object.fromEntries(entries.map(([key, value]) => [key, headerTokens[key] ?? value]))
}

function jitters(policyKey: JsonValue | undefined): boolean {
  try {
    const parts: unknown = JSON.parse(String(policyKey))
    return Array.isArray(parts) && parts.at(-1) !== 0
  } catch {
    return true
  }
}

function zero(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(zero)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(entries.map(([key, v]) => [key, zeroed.has(key) && typeof v === 'number' ? 0 : zero(v)]))
}

export interface TextNormaliser {
  replace(text: string): string
  /** Where something volatile stands, for text that arrives in pieces. */
  spans(text: string): Span[]
}

/** Only the directories: what a recording keeps when it goes into a fixture. */
export function placeNormaliser(volatile: Pick<Volatile, 'cwd' | 'home'>): TextNormaliser {
  const places = [...directories(volatile.cwd, '{{cwd}}'), ...directories(volatile.home ?? [], '{{home}}')]
  return {
    replace: (text) => places.reduce((now, step) => now.replace(step.pattern, step.replace), text),
    spans: (text) => places.flatMap((place) => spansOf(text, place.pattern)),
  }
}

/** Order matters: directories, separators, spill files, rendered times, the fixture's rules, ids. */
export function textNormaliser(volatile: Volatile): TextNormaliser {
  const places = [
    ...directories(volatile.cwd, '{{cwd}}'),
    ...directories(volatile.home ?? [], '{{home}}'),
    { pattern: /\{\{(cwd|home)\}\}/g, replace: '{{$1}}' },
  ]
  const rules = (volatile.rules ?? []).map((rule) => ({
    pattern: new RegExp(rule.pattern, 'gm'),
    replace: rule.replace,
  }))
  const ids = [...(volatile.sessionIds ?? [])]
    .filter((id) => id !== '' && !id.includes('{{'))
    .sort((a, b) => b.length - a.length)
    .map((id) => ({ pattern: new RegExp(escapeRegExp(id), 'g'), replace: '{{sessionId}}' }))
  const steps = [
    ...places,
    { pattern: /\{\{cwd\}\}[\\/][^\s"'`<>]*/g, replace: (match: string) => match.replaceAll('\\', '/') },
    { pattern: spillPath, replace: '{{spillLocator:$1}}' },
    { pattern: capturePath, replace: '{{capture:$1}}' },
    { pattern: /\(Omitted \d+ bytes\./g, replace: '(Omitted {{bytes}} bytes.' },
    { pattern: /"time": \d+/g, replace: '"time": {{eventTime}}' },
    ...rules,
    ...ids,
    { pattern: uuid, replace: '{{sessionId}}' },
  ]
  return {
    replace: (text) => steps.reduce((now, step) => now.replace(step.pattern, step.replace as string), text),
    spans: (text) =>
      [...places, { pattern: spillPath }, ...ids, { pattern: uuid }].flatMap((p) => spansOf(text, p.pattern)),
  }
}

/** A directory is replaced only where a path begins and a component ends. */
function directories(paths: readonly string[], token: string): { pattern: RegExp; replace: string }[] {
  return [...new Set(paths)]
    .filter((path) => path !== '' && path !== '/' && !path.includes('{{'))
    .sort((a, b) => b.length - a.length)
    .map((path) => ({
      pattern: new RegExp(`(?<![A-Za-z0-9_.-])${escapeRegExp(path)}(?![A-Za-z0-9_-]|\\.[A-Za-z0-9_])`, 'g'),
      replace: token,
    }))
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
