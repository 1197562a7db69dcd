import { isExpression } from './expression.ts'
import { isMapping, type Layer, type Patch, type RowDraft } from './layer.ts'
import { merge } from './merge.ts'
import { suggestion } from './nearest.ts'
import { type RowNode, type Say, walkRows } from './row.ts'

/** A patch, or a part of one, that found nothing to act on. Boot goes on without it. */
export interface Skip {
  readonly layer: Layer
  readonly line: number | undefined
  readonly message: string
}

export interface Composition {
  readonly layers: readonly Layer[]
  readonly rows: readonly RowNode[]
  readonly skips: readonly Skip[]
}

/** Applies the layers in order to an empty list. The input is never changed. */
export function compose(layers: readonly Layer[]): Composition {
  const skips: Skip[] = []
  const list = new RowTree()
  layers.forEach((layer, index) => {
    for (const patch of layer.patches) {
      const skip = (message: string, line = patch.line) => skips.push({ layer, line, message })
      applyPatch(list, patch, { layer: index, line: patch.line }, skip)
    }
  })
  return { layers, rows: list.rows, skips }
}

type SkipNote = (message: string, line?: number) => void

function applyPatch(tree: RowTree, patch: Patch, say: Say, skip: SkipNote): void {
  if (patch.insert !== undefined) return insertRows(tree, patch, patch.insert, say, skip)
  const id = patch.id as string
  const row = tree.find(id)
  if (row === undefined) return skip(`patch: entry "${id}" not found${suggestion(id, tree.ids())}`)
  if (patch.guard !== undefined && patch.guard !== row.name) {
    return skip(`patch: name mismatch for "${id}" (expected "${row.name}", got "${patch.guard}"), skipping`)
  }
  if (patch.remove) return tree.replace(id, [])
  tree.replace(id, [patched(row, patch, say, skip)])
}

function patched(row: RowNode, patch: Patch, say: Say, skip: SkipNote): RowNode {
  const { children: oldChildren, ...rest } = row
  const fields: Record<string, unknown> = { ...row.fields }
  for (const [key, value] of Object.entries(patch.set)) fields[key] = value
  let children = 'config' in patch.set ? undefined : oldChildren
  if (patch.merge !== undefined) {
    const config = children === undefined ? (fields['config'] ?? {}) : undefined
    if (isMapping(config)) fields['config'] = merge(config, patch.merge)
    else skip(`patch: cannot merge into "${row.id}": its config is no mapping`)
  }
  const config = fields['config']
  if (fields['group'] === true && children === undefined && !isExpression(config)) {
    children = childrenFromData(Array.isArray(config) ? config : [], say, row.id)
    delete fields['config']
  } else if (fields['group'] !== true && children !== undefined) {
    fields['config'] = children.map((child) => ({ id: child.id, name: child.name, ...child.fields }))
    children = undefined
  }
  const touches = [...row.touches, say]
  return { ...rest, fields, touches, ...(children === undefined ? {} : { children }) }
}

/** The rows of a group whose whole `config` a patch wrote. */
function childrenFromData(rows: readonly unknown[], say: Say, group: string): RowNode[] {
  return rows.filter(isMapping).map((data, i) => {
    const { id, name, config, ...fields } = data
    const anonymous = typeof id !== 'string'
    const node = { id: anonymous ? `~${group}.${i + 1}` : id, anonymous, name: String(name), origin: say, touches: [] }
    if (fields['group'] === true && Array.isArray(config)) {
      return { ...node, fields, children: childrenFromData(config, say, node.id) }
    }
    return { ...node, fields: 'config' in data ? { ...fields, config } : fields }
  })
}

function insertRows(tree: RowTree, patch: Patch, drafts: readonly RowDraft[], say: Say, skip: SkipNote): void {
  if (patch.id !== undefined) {
    const group = tree.find(patch.id)
    if (group === undefined) {
      return skip(`patch insert: entry "${patch.id}" not found${suggestion(patch.id, tree.ids())}`)
    }
    if (group.fields['group'] !== true) return skip(`patch insert: entry "${patch.id}" is not a group`)
    tree.replace(patch.id, [{ ...group, children: group.children ?? [], touches: [...group.touches, say] }])
  }
  for (const draft of drafts) {
    const row = tree.node(draft, say.layer)
    const anchor = draft.before ?? draft.after
    const side = draft.before === undefined ? 'after' : 'before'
    if (anchor !== undefined && tree.siblingOf(anchor, patch.id)) tree.place(row, side, anchor)
    else {
      if (anchor !== undefined) {
        const why = tree.find(anchor) === undefined ? `entry "${anchor}" not found` : `"${anchor}" is in another list`
        const hint = tree.find(anchor) === undefined ? suggestion(anchor, tree.ids()) : ''
        skip(`patch insert: ${side}: ${why}${hint}; "${row.id}" goes to the end`, draft.line)
      }
      tree.append(row, patch.id)
    }
  }
}

class RowTree {
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
    const children = draft.children?.map((child) => this.node(child, layer))
    const origin = { layer, line: draft.line }
    const base = { id, anonymous, name: draft.name, fields: draft.fields, origin, touches: [] }
    return children === undefined ? base : { ...base, children }
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

  siblingOf(id: string, group: string | undefined): boolean {
    const list = group === undefined ? this.rows : (this.find(group)?.children ?? [])
    return list.some((row) => row.id === id)
  }
}

/** Replaces the last row of that id, which is the one that `find` returns. */
function mapLast(
  rows: readonly RowNode[],
  id: string,
  change: (row: RowNode) => readonly RowNode[],
): readonly RowNode[] {
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i] as RowNode
    if (row.children !== undefined) {
      const children = mapLast(row.children, id, change)
      if (children !== row.children) return [...rows.slice(0, i), { ...row, children }, ...rows.slice(i + 1)]
    }
    if (row.id === id) return [...rows.slice(0, i), ...change(row), ...rows.slice(i + 1)]
  }
  return rows
}
