import type { Message, StreamChunk } from '@dsh/llm'

const OPEN = '{{fromRequest:'

/** Fills `{{fromRequest:<regex>}}` in every string of a scripted chunk with what the request says. */
export function fillChunk(chunk: StreamChunk, messages: readonly Message[]): StreamChunk {
  if (!JSON.stringify(chunk).includes(OPEN)) return chunk
  const haystack = leaves(messages).join('\n')
  return mapStrings(chunk, (text) => fill(text, haystack)) as StreamChunk
}

function fill(text: string, haystack: string): string {
  let out = ''
  let from = 0
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, from)) {
    const start = at + OPEN.length
    const end = closing(text, start)
    if (end < 0) throw new Error(`llm-replay: the placeholder "${text.slice(at, at + 60)}" is unterminated`)
    out += text.slice(from, at) + find(text.slice(start, end), haystack)
    from = end + 2
  }
  return out + text.slice(from)
}

/** The `}}` that ends a placeholder; one more brace before it belongs to the pattern. */
function closing(text: string, start: number): number {
  let end = text.indexOf('}}', start)
  while (end >= 0 && text[end + 2] === '}') end++
  return end
}

function find(source: string, haystack: string): string {
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'g')
  } catch (error) {
    throw new Error(`llm-replay: {{fromRequest:${source}}} has an invalid pattern`, { cause: error })
  }
  let last: RegExpMatchArray | undefined
  for (const match of haystack.matchAll(pattern)) last = match
  if (last === undefined) throw new Error(`llm-replay: {{fromRequest:${source}}} matched nothing in the request`)
  return last[1] ?? last[0]
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(leaves)
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]))
}
