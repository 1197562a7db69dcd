import { Document, type ScalarTag } from 'yaml'
import type { Composition } from './apply.ts'
import { Expression, isExpression } from './expression.ts'
import { type RowNode, rowData } from './row.ts'

/** A loadable list; a comment before each run of rows says where they come from and who patched them. */
export function dumpYaml(composition: Composition): string {
  const blocks: string[] = []
  let heading: string | undefined
  for (const row of composition.rows) {
    const next = `# == ${provenance(composition, row)}`
    if (next !== heading) blocks.push(next)
    heading = next
    blocks.push(yamlText([rowData(row)]).trimEnd())
  }
  return blocks.length === 0 ? '[]\n' : `${blocks.join('\n')}\n`
}

/** The same as one JSON document; expressions are `{"!!js": source}`. */
export function dumpJson(composition: Composition): string {
  const rows = composition.rows.map((row) => ({
    ...rowData(row),
    'x-origin': composition.layers[row.origin.layer]?.label,
    'x-patched-by': patchedBy(composition, row),
  }))
  return `${JSON.stringify(rows, null, 2)}\n`
}

function provenance(composition: Composition, row: RowNode): string {
  const origin = composition.layers[row.origin.layer]?.label ?? '(unknown)'
  const patches = patchedBy(composition, row)
  return patches.length === 0 ? origin : `${origin}, patched by ${patches.join(', ')}`
}

/** The labels of the layers that said something about the row or, in a group, about a row in it. */
export function patchedBy(composition: Composition, row: RowNode): string[] {
  const layers = new Set<number>()
  collect(row)
  layers.delete(row.origin.layer)
  return [...layers].sort((a, b) => a - b).map((layer) => composition.layers[layer]?.label ?? '(unknown)')

  function collect(node: RowNode): void {
    for (const say of [node.origin, ...node.touches]) layers.add(say.layer)
    for (const child of node.children ?? []) collect(child)
  }
}

const tags: ScalarTag[] = (['js', 'env', 'home'] as const).map((kind) => ({
  tag: kind === 'js' ? 'tag:yaml.org,2002:js' : `!${kind}`,
  identify: (value: unknown) => isExpression(value) && value.kind === kind,
  resolve: (text: string) => new Expression(kind, text),
  stringify: ({ value }) => sourceText((value as Expression).source),
}))

/** Plain where YAML reads it back as it stands, else quoted. */
function sourceText(source: string): string {
  return /^[A-Za-z_$(]/.test(source) && !/: | #|[\n\r]|:$/.test(source) ? source : JSON.stringify(source)
}

/** Data with expressions in the dialect that `readLayer` reads. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { customTags: tags, aliasDuplicateObjects: false })
  return document.toString({ lineWidth: 0 })
}
