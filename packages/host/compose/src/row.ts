/** One layer's word about a row: which layer, and where in its file. */
export interface Say {
  /** Index into the layer list. */
  readonly layer: number
  readonly line?: number
}

export interface RowNode {
  /** Address for patches and messages; made up (`~3`) when the file gave none. */
  readonly id: string
  readonly anonymous: boolean
  /** A package name, an absolute path, a URL or `cordis:<builtin>`. */
  readonly name: string
  /** Every other key in the order it was written: config, disabled, inject, … Without `config` where `children` exist. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The rows of a `group: true` row. */
  readonly children?: readonly RowNode[]
  readonly origin: Say
  readonly touches: readonly Say[]
}

/** The row as a file would write it. */
export function rowData(row: RowNode): Record<string, unknown> {
  const data: Record<string, unknown> = row.anonymous ? { name: row.name } : { id: row.id, name: row.name }
  Object.assign(data, row.fields)
  if (row.children !== undefined) data['config'] = row.children.map(rowData)
  return data
}

/** Every row, groups before their children. */
export function* walkRows(rows: readonly RowNode[]): Generator<RowNode> {
  for (const row of rows) {
    yield row
    if (row.children !== undefined) yield* walkRows(row.children)
  }
}
