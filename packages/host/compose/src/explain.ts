import type { Composition } from './apply.ts'
import { yamlText } from './dump.ts'
import type { Layer, Patch, RowDraft } from './layer.ts'
import { suggestion } from './nearest.ts'
import { walkRows } from './row.ts'

/** What each layer says about a row, lowest first, and what comes of it; undefined for an unknown row. */
export function explain(composition: Composition, id: string): string | undefined {
  const row = [...walkRows(composition.rows)].find((candidate) => candidate.id === id)
  const says = composition.layers.flatMap((layer) => sayings(layer, id))
  if (row === undefined && says.length === 0) return undefined
  const gone = says.some((say) => say.act.startsWith('inserts')) ? 'removed' : 'no layer inserts this row'
  const lines = [`${id} (${row?.name ?? gone})`]
  for (const [i, say] of says.entries()) {
    const wins = i === says.length - 1 && says.length > 1 ? '  <- last word' : ''
    lines.push('', `${say.place}: ${say.act}${wins}`)
    if (say.value !== undefined) lines.push(indent(yamlText(say.value)))
  }
  if (row !== undefined) lines.push('', 'result:', indent(winners(composition, id)))
  return `${lines.join('\n')}\n`
}

/** For a message about a row that nobody knows. */
export function unknownRowText(composition: Composition, id: string, profile: string): string {
  const ids = [...walkRows(composition.rows)].filter((row) => !row.anonymous).map((row) => row.id)
  return `no row "${id}" in profile "${profile}"${suggestion(id, ids)}`
}

interface Saying {
  readonly place: string
  readonly act: string
  readonly value?: unknown
}

function sayings(layer: Layer, id: string): Saying[] {
  return layer.patches.flatMap((patch) => {
    const rows = [...(patch.insert ?? []), ...(patch.asRows?.rows ?? [])]
    const inserted = rows.flatMap((draft) => insertSayings(layer, draft, id))
    if (patch.insert === undefined && patch.id === id) return [...inserted, patchSaying(layer, patch)]
    return inserted
  })
}

function insertSayings(layer: Layer, draft: RowDraft, id: string): Saying[] {
  const nested = (draft.children ?? []).flatMap((child) => insertSayings(layer, child, id))
  if (draft.id !== id) return nested
  const value = Object.keys(draft.fields).length === 0 ? {} : { value: draft.fields }
  return [{ place: placeText(layer, draft.line), act: `inserts ${draft.name}`, ...value }, ...nested]
}

function patchSaying(layer: Layer, patch: Patch): Saying {
  const place = placeText(layer, patch.line)
  if (patch.remove) return { place, act: 'removes it' }
  const guard = patch.guard === undefined ? '' : ` if it is ${patch.guard}`
  const value = patch.merge === undefined ? patch.set : { ...patch.set, merge: patch.merge }
  return { place, act: `sets${guard}`, value }
}

function placeText(layer: Layer, line: number | undefined): string {
  const at = line === undefined ? '' : `:${line}`
  return layer.label === layer.file ? `${layer.file}${at}` : `${layer.label} (${layer.file}${at})`
}

/** Each top-level key of the final row with the layer that had the last word on it. */
function winners(composition: Composition, id: string): string {
  const row = [...walkRows(composition.rows)].find((candidate) => candidate.id === id)!
  const entries = Object.entries(row.fields)
  if (entries.length === 0) return 'no config: the defaults of its package'
  return entries
    .map(([key, value]) => {
      const text = yamlText({ [key]: value })
        .trimEnd()
        .split('\n')
      return [`${text[0]}  # ${winnerOf(composition, id, key)}`, ...text.slice(1)].join('\n')
    })
    .join('\n')
}

function winnerOf(composition: Composition, id: string, key: string): string {
  const row = [...walkRows(composition.rows)].find((candidate) => candidate.id === id)!
  let winner = row.origin.layer
  for (const say of row.touches) {
    const patch = composition.layers[say.layer]?.patches.find(
      (candidate) => candidate.id === id && candidate.line === say.line,
    )
    if (patch !== undefined && (key in patch.set || (key === 'config' && patch.merge !== undefined))) winner = say.layer
  }
  return composition.layers[winner]?.label ?? '(unknown)'
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
