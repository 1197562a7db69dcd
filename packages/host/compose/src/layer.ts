import { ComposeError, type Problem } from './errors.ts'
import type { Mapping } from './mapping.ts'
import { PatchReader } from './patch-reader.ts'
import { parseYaml } from './yaml-dialect.ts'

export type LayerKind = 'bundle' | 'profile' | 'home' | 'patch' | 'settings' | 'launcher'

/** One patch list with its source. */
export interface Layer {
  /** A bundle's package name, a file's absolute path, or `(launcher)`. */
  readonly label: string
  readonly kind: LayerKind
  readonly file: string
  readonly patches: readonly Patch[]
}

export interface Patch {
  readonly line?: number
  /** The row or, with `insert`, the group that is meant. */
  readonly id?: string
  /** The patch applies only to a row of this name. */
  readonly guard?: string
  readonly insert?: readonly RowDraft[]
  /** Whole-value replacements, in file order. */
  readonly set: Mapping
  readonly merge?: Mapping
  readonly remove?: true
  /** Says nothing when the row is not there. */
  readonly optional?: true
  /** `set.config` read as rows, in case the row turns out to be a group. */
  readonly asRows?: RowList
}

export interface RowList {
  readonly rows: readonly RowDraft[]
  readonly problems: readonly Problem[]
}

/** A row as an `insert` wrote it. */
export interface RowDraft {
  readonly line?: number
  readonly id?: string
  readonly name: string
  readonly fields: Mapping
  readonly children?: readonly RowDraft[]
  readonly before?: string
  readonly after?: string
}

export interface LayerSource {
  readonly label: string
  readonly kind: LayerKind
  readonly file: string
  readonly text: string
}

/** Parses and checks one patch file. Every problem in it is reported at once, by `ComposeError`. */
export function readLayer(source: LayerSource): Layer {
  const { value, lines } = parseYaml(source.text, source.file)
  return layerOf(source, (reader) => reader.patchList(value), new PatchReader(source.file, lines))
}

/** A patch list that is data already, as in the `patches` of an include. */
export function readPatches(source: Omit<LayerSource, 'text'>, patches: unknown): Layer {
  return layerOf(source, (reader) => reader.patchList(patches), new PatchReader(source.file))
}

/** A file that is a plain list of rows, as an include names it: one insert. */
export function readRows(source: LayerSource): Layer {
  const { value, lines } = parseYaml(source.text, source.file)
  return layerOf(
    source,
    (reader) => [{ insert: reader.rowList(value ?? [], 1, 'the file'), set: {} }],
    new PatchReader(source.file, lines),
  )
}

function layerOf(
  { label, kind, file }: Omit<LayerSource, 'text'>,
  read: (reader: PatchReader) => Patch[],
  reader: PatchReader,
): Layer {
  const patches = read(reader)
  if (reader.problems.length > 0) throw new ComposeError(reader.problems)
  return Object.freeze({ label, kind, file, patches: Object.freeze(patches) })
}
