import type { RowDraft } from './layer.ts'
import { type RowNode, walkRows } from './row.ts'

/** The list under composition. Nodes are never changed, only replaced. */
export class RowTree {
  rows: readonly RowNode[] = []
  private unnamed = 0

  find(id: string): RowNode | undefined {
    let found: RowNode | undefined
    for (const row of walkRows(this.rows)) if (row.id === id) found = row
    return found
  }

  *ids(): Generator<string> {
    for (const row of walkRows(this.rows)) if (!row.anonymous) yield row.id
  }

  /** The row of a draft, with ids for the nameless. */
  node(draft: RowDraft, layer: number): RowNode {
    const anonymous = draft.id === undefined
    const id = draft.id ?? `~${++this.unnamed}`
    const origin = draft.line === undefined ? { layer } : { layer, line: draft.line }
    const base = { id, anonymous, name: draft.name, fields: draft.fields, origin, touches: [] }
    if (draft.children === undefined) return base
    return { ...base, children: draft.children.map((child) => this.node(child, layer)) }
  }

  append(row: RowNode, group: string | undefined): void {
    if (group === undefined) this.rows = [...this.rows, row]
    else this.rows = mapLast(this.rows, group, (parent) => [{ ...parent, children: [...(parent.children ?? []), row] }])
  }

  place(row: RowNode, side: 'before' | 'after', anchor: string): void {
    this.rows = mapLast(this.rows, anchor, (at) => (side === 'before' ? [row, at] : [at, row]))
  }

  replace(id: string, by: readonly RowNode[]): void {
    this.rows = mapLast(this.rows, id, () => by)
  }

  /** Whether `id` stands directly in the list of `group` (undefined: the top-level list). */
  has(id: string, group: string | undefined): boolean {
    const list = group === undefined ? this.rows : (this.find(group)?.children ?? [])
    return list.some((row) => row.id === id)
  }
}

type Change = (row: RowNode) => readonly RowNode[]

/** Changes the last row of that id in document order, which is the one that `find` gives. */
function mapLast(rows: readonly RowNode[], id: string, change: Change): readonly RowNode[] {
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i] as RowNode
    const children = row.children === undefined ? undefined : mapLast(row.children, id, change)
    if (children !== row.children) return [...rows.slice(0, i), { ...row, children: children! }, ...rows.slice(i + 1)]
    if (row.id === id) return [...rows.slice(0, i), ...change(row), ...rows.slice(i + 1)]
  }
  return rows
}
