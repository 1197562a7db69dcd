import { isAbsolute, posix, resolve } from 'node:path'
import { canonicalName } from './alias.ts'
import { ComposeError, type Problem } from './errors.ts'
import { isExpression } from './expression.ts'
import { suggestion } from './nearest.ts'
import { type Lines, parseYaml } from './yaml-dialect.ts'

export type LayerKind = 'bundle' | 'profile' | 'home' | 'patch' | 'launcher'

/** One patch list with its source. */
export interface Layer {
  /** A bundle's package name, a file's absolute path, or `(launcher)`. */
  readonly label: string
  readonly kind: LayerKind
  readonly file: string
  readonly patches: readonly Patch[]
}

export interface Patch {
  readonly line: number | undefined
  /** The row or, with `insert`, the group that is meant. */
  readonly id?: string
  /** The patch applies only to a row of this name. */
  readonly guard?: string
  readonly insert?: readonly RowDraft[]
  /** Whole-value replacements, in file order. */
  readonly set: Readonly<Record<string, unknown>>
  readonly merge?: Readonly<Record<string, unknown>>
  readonly remove?: true
}

/** A row as an `insert` wrote it. */
export interface RowDraft {
  readonly line: number | undefined
  readonly id?: string
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly children?: readonly RowDraft[]
  readonly before?: string
  readonly after?: string
}

const ROW_KEYS = ['id', 'name', 'config', 'disabled', 'group', 'inject', 'isolate', 'intercept']
const PLACE_KEYS = ['before', 'after']
const PATCH_KEYS = ['insert', 'merge', 'remove']

export interface LayerSource {
  readonly label: string
  readonly kind: LayerKind
  readonly file: string
  readonly text: string
}

/** Parses and checks one patch file. Every problem in it is reported at once, by `ComposeError`. */
export function readLayer(source: LayerSource): Layer {
  const { value, lines } = parseYaml(source.text, source.file)
  const reader = new Reader(source.file, lines)
  const patches = reader.patchList(value)
  if (reader.problems.length > 0) throw new ComposeError(reader.problems)
  return Object.freeze({ label: source.label, kind: source.kind, file: source.file, patches })
}

class Reader {
  readonly problems: Problem[] = []
  private readonly file: string
  private readonly lines: Lines
  constructor(file: string, lines: Lines) {
    this.file = file
    this.lines = lines
  }

  patchList(value: unknown): Patch[] {
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) {
      this.problem(
        typeof value === 'object' ? this.lines.of(value) : 1,
        `must be a list of patches, not ${kindOf(value)}`,
      )
      return []
    }
    return value.flatMap((item, i) => {
      if (isMapping(item)) return this.patch(item)
      this.problem(this.lines.of(value, i), `entry ${i + 1} must be a mapping, not ${kindOf(item)}`)
      return []
    })
  }

  private patch(item: Record<string, unknown>): Patch[] {
    const line = this.lines.of(item)
    const before = this.problems.length
    const inserts = 'insert' in item
    this.keys(item, [...ROW_KEYS, ...PATCH_KEYS], 'a patch')
    const set: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(item)) {
      if (PATCH_KEYS.includes(key) || key === 'id' || key === 'name') continue
      this.field(item, key, value)
      set[key] = value
    }
    const patch: { -readonly [K in keyof Patch]: Patch[K] } = { line, set }
    const id = this.text(item, 'id')
    if (id !== undefined) patch.id = id
    const guard = this.text(item, 'name')
    if (guard !== undefined) patch.guard = this.rowName(guard)
    if (inserts) patch.insert = this.rowList(item['insert'], this.lines.of(item, 'insert'), 'insert')
    if ('merge' in item) {
      if (isMapping(item['merge'])) patch.merge = item['merge']
      else this.problem(this.lines.of(item, 'merge'), `merge must be a mapping, not ${kindOf(item['merge'])}`)
    }
    if ('remove' in item) {
      if (item['remove'] === true) patch.remove = true
      else this.problem(this.lines.of(item, 'remove'), 'remove takes only true')
    }
    if (!inserts && !('id' in item)) this.problem(line, 'a patch needs an id or an insert')
    return this.problems.length > before ? [] : [Object.freeze(patch)]
  }

  private rowList(value: unknown, line: number | undefined, what: string): RowDraft[] {
    if (!Array.isArray(value)) {
      this.problem(line, `${what} must be a list of rows, not ${kindOf(value)}`)
      return []
    }
    return value.flatMap((item, i) => {
      if (isMapping(item)) return this.row(item)
      this.problem(this.lines.of(value, i), `${what} entry ${i + 1} must be a mapping, not ${kindOf(item)}`)
      return []
    })
  }

  private row(item: Record<string, unknown>): RowDraft[] {
    const line = this.lines.of(item)
    const before = this.problems.length
    this.keys(item, [...ROW_KEYS, ...PLACE_KEYS], 'a row')
    const id = this.text(item, 'id')
    const name = this.text(item, 'name')
    if (!('name' in item)) this.problem(line, `row${id === undefined ? '' : ` "${id}"`} has no name`)
    const fields: Record<string, unknown> = {}
    let children: RowDraft[] | undefined
    for (const [key, value] of Object.entries(item)) {
      if (key === 'id' || key === 'name' || PLACE_KEYS.includes(key)) continue
      this.field(item, key, value)
      if (key === 'config' && item['group'] === true && !isExpression(value)) {
        children = value === null ? [] : this.rowList(value, this.lines.of(item, key), 'the config of a group')
      } else fields[key] = value
    }
    if (item['group'] === true && children === undefined && !('config' in item)) children = []
    const place = PLACE_KEYS.filter((key) => key in item)
    if (place.length > 1) this.problem(line, 'a row takes before or after, not both')
    if (this.problems.length > before || name === undefined) return []
    const draft: { -readonly [K in keyof RowDraft]: RowDraft[K] } = { line, name: this.rowName(name), fields }
    if (id !== undefined) draft.id = id
    if (children !== undefined) draft.children = children
    const anchor = place[0] === undefined ? undefined : this.text(item, place[0])
    if (anchor !== undefined) draft[place[0] as 'before' | 'after'] = anchor
    return [Object.freeze(draft)]
  }

  private keys(item: Record<string, unknown>, known: string[], what: string): void {
    for (const key of Object.keys(item)) {
      if (known.includes(key) || key.startsWith('x-')) continue
      this.problem(this.lines.of(item, key), `unknown key "${key}" in ${what}${suggestion(key, known)}`)
    }
  }

  private field(item: Record<string, unknown>, key: string, value: unknown): void {
    const line = this.lines.of(item, key)
    if (key === 'disabled' && value !== null && typeof value !== 'boolean' && !isExpression(value)) {
      this.problem(line, `disabled must be true, false or an expression, not ${kindOf(value)}`)
    } else if (key === 'group' && value !== null && typeof value !== 'boolean') {
      this.problem(line, `group must be true or false, not ${kindOf(value)}`)
    } else if (key === 'inject' && value !== null && !isInject(value)) {
      this.problem(line, 'inject must be a list of service names or a mapping of them')
    } else if ((key === 'isolate' || key === 'intercept') && value !== null && !isMapping(value)) {
      this.problem(line, `${key} must be a mapping of service names, not ${kindOf(value)}`)
    } else if (key === 'isolate' && isMapping(value)) {
      for (const [service, realm] of Object.entries(value)) {
        if (realm === true || (typeof realm === 'string' && realm !== '')) continue
        this.problem(this.lines.of(value, service), `isolate.${service} must be true or a label`)
      }
    }
  }

  private text(item: Record<string, unknown>, key: string): string | undefined {
    const value = item[key]
    if (typeof value === 'string' && value.trim() !== '') return value
    if (key in item) this.problem(this.lines.of(item, key), `${key} must be a non-empty string, not ${kindOf(value)}`)
    return undefined
  }

  /** A relative name means a file beside the one that wrote it. */
  private rowName(name: string): string {
    if (/^\.\.?[/\\]/.test(name)) return resolve(posix.dirname(this.file.replaceAll('\\', '/')), name)
    return isAbsolute(name) ? name : canonicalName(name)
  }

  private problem(line: number | undefined, message: string): void {
    this.problems.push({ file: this.file, message, ...(line === undefined ? {} : { line }) })
  }
}

function isInject(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((name) => typeof name === 'string' && name !== '')
  return isMapping(value)
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExpression(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  if (isExpression(value)) return `an expression (${value.tag})`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return JSON.stringify(value)
}
