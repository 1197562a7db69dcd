import type { Problem } from './errors.ts'
import { isExpression } from './expression.ts'
import type { Layer, Patch, RowDraft } from './layer.ts'
import { isMapping } from './mapping.ts'
import { merge } from './merge.ts'
import { slipOf, suggestion } from './nearest.ts'
import { type RowNode, rowData, type Say } from './row.ts'
import { RowTree } from './row-tree.ts'

/** A patch, or a part of one, that found nothing to act on. Boot goes on without it. */
export interface Skip {
  readonly layer: Layer
  readonly line?: number
  readonly message: string
}

export interface Composition {
  readonly layers: readonly Layer[]
  readonly rows: readonly RowNode[]
  readonly skips: readonly Skip[]
  /** What `checkComposition` will refuse. */
  readonly problems: readonly Problem[]
}

/** Applies the layers in order to an empty list. The input is never changed. */
export function compose(layers: readonly Layer[]): Composition {
  const run = new Run()
  layers.forEach((layer, index) => {
    for (const patch of layer.patches) run.apply(patch, layer, index)
  })
  return { layers, rows: run.tree.rows, skips: run.skips, problems: run.problems }
}

class Run {
  readonly tree = new RowTree()
  readonly skips: Skip[] = []
  readonly problems: Problem[] = []

  apply(patch: Patch, layer: Layer, index: number): void {
    const skip = (message: string, line = patch.line) => {
      this.skips.push(line === undefined ? { layer, message } : { layer, line, message })
    }
    const say: Say = patch.line === undefined ? { layer: index } : { layer: index, line: patch.line }
    if (patch.insert === undefined) this.change(patch, say, skip)
    else this.insert(patch.insert, patch.id, say, skip)
  }

  private change(patch: Patch, say: Say, skip: SkipNote): void {
    const id = patch.id as string
    const row = this.tree.find(id)
    if (row === undefined) {
      if (!patch.optional) skip(`patch: entry "${id}" not found${suggestion(id, this.tree.ids())}`)
      else this.slip(id, skip)
    } else if (patch.guard !== undefined && patch.guard !== row.name) {
      skip(`patch: name mismatch for "${id}" (expected "${row.name}", got "${patch.guard}"), skipping`)
    } else {
      this.tree.replace(id, patch.remove ? [] : [this.patched(row, patch, say, skip)])
    }
  }

  /** What may be missing is told only where it is all but the name of a row: rows that ship are further apart. */
  private slip(id: string, skip: SkipNote): void {
    const row = slipOf(id, this.tree.ids())
    if (row !== undefined) skip(`settings: row "${id}" not found — did you mean "${row}"?`)
  }

  private patched(row: RowNode, patch: Patch, say: Say, skip: SkipNote): RowNode {
    const { children: before, ...rest } = row
    const fields: Record<string, unknown> = { ...row.fields, ...patch.set }
    let children = 'config' in patch.set ? undefined : before
    if (patch.merge !== undefined) {
      const config = children === undefined ? (fields['config'] ?? {}) : undefined
      if (isMapping(config)) fields['config'] = merge(config, patch.merge)
      else skip(`patch: cannot merge into "${row.id}": its config is no mapping`)
    }
    if (fields['group'] === true && children === undefined && !isExpression(fields['config'])) {
      children = this.groupRows(row, patch, fields['config'], say)
      delete fields['config']
    } else if (fields['group'] !== true && children !== undefined) {
      fields['config'] = children.map(rowData)
      children = undefined
    }
    const touches = [...row.touches, say]
    return children === undefined ? { ...rest, fields, touches } : { ...rest, fields, touches, children }
  }

  /** The rows of a group whose whole `config` the patch wrote, or of a row that it made a group. */
  private groupRows(row: RowNode, patch: Patch, config: unknown, say: Say): readonly RowNode[] {
    if (config === undefined || config === null) return []
    if (patch.asRows !== undefined) {
      this.problems.push(...patch.asRows.problems)
      return patch.asRows.rows.map((draft) => this.tree.node(draft, say.layer))
    }
    const file = '(composition)'
    this.problems.push({ file, message: `row "${row.id}" became a group, but its config is no list of rows` })
    return []
  }

  private insert(drafts: readonly RowDraft[], into: string | undefined, say: Say, skip: SkipNote): void {
    if (into !== undefined) {
      const group = this.tree.find(into)
      if (group === undefined) {
        skip(`patch insert: entry "${into}" not found${suggestion(into, this.tree.ids())}`)
        return
      }
      if (group.fields['group'] !== true) {
        skip(`patch insert: entry "${into}" is not a group`)
        return
      }
      this.tree.replace(into, [{ ...group, children: group.children ?? [], touches: [...group.touches, say] }])
    }
    for (const draft of drafts) this.insertRow(draft, into, say, skip)
  }

  private insertRow(draft: RowDraft, into: string | undefined, say: Say, skip: SkipNote): void {
    const row = this.tree.node(draft, say.layer)
    const side = draft.before === undefined ? 'after' : 'before'
    const anchor = draft.before ?? draft.after
    if (anchor === undefined) this.tree.append(row, into)
    else if (this.tree.has(anchor, into)) this.tree.place(row, side, anchor)
    else {
      const elsewhere = this.tree.find(anchor) !== undefined
      const why = elsewhere ? `"${anchor}" is in another list` : `entry "${anchor}" not found`
      const hint = elsewhere ? '' : suggestion(anchor, this.tree.ids())
      skip(`patch insert: ${side}: ${why}${hint}; "${row.id}" goes to the end`, draft.line)
      this.tree.append(row, into)
    }
  }
}

type SkipNote = (message: string, line?: number) => void
