import path from 'node:path'
import { cutUtf8End } from '@dsh/core'
import type { Change } from './known.ts'
import type { Source } from './sources.ts'

const intro =
  'The following instructions come from files of this user and this project. Follow them where they apply to the task; instructions of a deeper directory take precedence over those above it, and what the user says takes precedence over all of them.'

export interface Rendered {
  readonly text: string
  /** What did not fit, for the person; undefined when everything did. */
  readonly notice?: string
}

interface Part {
  readonly heading: string
  readonly name: string
  text: string
  readonly bytes: number
}

/** Everything at once: the broadest first, the most specific last. */
export function renderBaseline(sources: readonly Source[], cwd: string, maxBytes: number): Rendered {
  return render(
    sources.map((source) => part('Instructions from', source, cwd)),
    [],
    maxBytes,
  )
}

/** What is new since the model was last told. `nested` says which files lie below the working directory. */
export function renderChanges(
  changes: readonly Change[],
  sources: readonly Source[],
  cwd: string,
  nested: (file: string) => boolean,
  maxBytes: number,
): Rendered {
  const byFile = new Map(sources.map((source) => [source.file, source]))
  const parts = changes.flatMap(({ action, path: file }) => {
    const source = byFile.get(file)
    if (source === undefined) return []
    const heading =
      action === 'replace'
        ? 'Updated instructions from'
        : nested(file)
          ? 'Additional instructions from'
          : 'Instructions from'
    return [part(heading, source, cwd)]
  })
  const removed = changes.filter(({ action }) => action === 'remove').map(({ path: file }) => shownPath(file, cwd))
  return render(
    parts,
    removed.map((file) => `Instructions removed: ${file}`),
    maxBytes,
  )
}

/** A path as the model may use it: relative below the working directory, absolute elsewhere. */
export function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file)
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative
}

function part(heading: string, { file, text }: Source, cwd: string): Part {
  const escaped = text.replaceAll('</system-reminder>', '<\\/system-reminder>')
  return { heading, name: shownPath(file, cwd), text: escaped, bytes: Buffer.byteLength(escaped) }
}

function render(parts: readonly Part[], tail: readonly string[], maxBytes: number): Rendered {
  const { kept, notice } = fit(parts, maxBytes)
  const sections = kept.map(({ heading, name, text }) => `${heading}: ${name}\n\n${text.trimEnd()}`)
  const body = [intro, ...(notice === undefined ? [] : [notice]), ...sections, ...tail].join('\n\n')
  return { text: `<system-reminder>\n${body}\n</system-reminder>`, ...(notice === undefined ? {} : { notice }) }
}

/** Drops the broadest files until the rest fits; a last one that is too long alone is cut. */
function fit(parts: readonly Part[], maxBytes: number): { kept: readonly Part[]; notice?: string } {
  const total = (list: readonly Part[]) => list.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total(parts) <= maxBytes) return { kept: parts }
  const kept = [...parts]
  const omitted: string[] = []
  while (kept.length > 1 && total(kept) > maxBytes) omitted.push((kept.shift() as Part).name)
  const [last] = kept
  const facts = omitted.length === 0 ? [] : [`omitted ${omitted.join(', ')}`]
  if (last !== undefined && last.bytes > maxBytes) {
    const text = cutUtf8End(last.text, maxBytes)
    facts.push(`truncated ${last.name} from ${last.bytes} to ${Buffer.byteLength(text)} bytes`)
    kept[0] = { ...last, text }
  }
  return { kept, notice: `Workspace instruction budget ${maxBytes} bytes: ${facts.join('; ')}` }
}
