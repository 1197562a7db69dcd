import { dirname, isAbsolute, resolve } from 'node:path'
import { canonicalName } from './alias.ts'
import type { Problem } from './errors.ts'
import { isExpression } from './expression.ts'
import type { Patch, RowDraft } from './layer.ts'
import { isMapping, kindOf, type Mapping } from './mapping.ts'
import { suggestion } from './nearest.ts'
import { fieldProblem, ROW_KEYS } from './row-fields.ts'
import type { Lines } from './yaml-dialect.ts'

const PLACE_KEYS = ['before', 'after'] as const
const PATCH_KEYS = ['insert', 'merge', 'remove']

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Turns the data of one file into patches and rows; what is wrong with it collects in `problems`. */
export class PatchReader {
  readonly problems: Problem[] = []
  private readonly file: string
  private readonly lines: Lines | undefined
  constructor(file: string, lines?: Lines) {
    this.file = file
    this.lines = lines
  }

  patchList(value: unknown): Patch[] {
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) {
      this.problem(this.lineOf(value) ?? 1, `must be a list of patches, not ${kindOf(value)}`)
      return []
    }
    return value.flatMap((item, i) => {
      if (isMapping(item)) return this.patch(item)
      this.problem(this.lineOf(value, i), `entry ${i + 1} must be a mapping, not ${kindOf(item)}`)
      return []
    })
  }

  rowList(value: unknown, line: number | undefined, what: string): RowDraft[] {
    if (!Array.isArray(value)) {
      this.problem(line, `${what} must be a list of rows, not ${kindOf(value)}`)
      return []
    }
    return value.flatMap((item, i) => {
      if (isMapping(item)) return this.row(item)
      this.problem(this.lineOf(value, i), `${what} entry ${i + 1} must be a mapping, not ${kindOf(item)}`)
      return []
    })
  }

  private patch(item: Mapping): Patch[] {
    const before = this.problems.length
    this.keys(item, [...ROW_KEYS, ...PATCH_KEYS], 'a patch')
    const set = this.fields(item, [...PATCH_KEYS, 'id', 'name'])
    const patch: Writable<Patch> = { ...this.at(item), set }
    const id = this.text(item, 'id')
    if (id !== undefined) patch.id = id
    const guard = this.text(item, 'name')
    if (guard !== undefined) patch.guard = this.rowName(guard)
    if (item['insert'] !== undefined && item['insert'] !== false) {
      patch.insert = this.rowList(item['insert'], this.lineOf(item, 'insert'), 'insert')
    } else if (!('id' in item)) this.problem(this.lineOf(item), 'a patch needs an id or an insert')
    if ('merge' in item) {
      if (isMapping(item['merge'])) patch.merge = item['merge']
      else this.problem(this.lineOf(item, 'merge'), `merge must be a mapping, not ${kindOf(item['merge'])}`)
    }
    if ('remove' in item) {
      if (item['remove'] === true) patch.remove = true
      else this.problem(this.lineOf(item, 'remove'), `remove takes only true, not ${kindOf(item['remove'])}`)
    }
    if (patch.insert === undefined && Array.isArray(set['config'])) {
      const nested = new PatchReader(this.file, this.lines)
      const rows = nested.rowList(set['config'], this.lineOf(item, 'config'), 'the config of a group')
      patch.asRows = { rows, problems: nested.problems }
    }
    return this.problems.length > before ? [] : [Object.freeze(patch)]
  }

  private row(item: Mapping): RowDraft[] {
    const before = this.problems.length
    this.keys(item, [...ROW_KEYS, ...PLACE_KEYS], 'a row')
    const id = this.text(item, 'id')
    const name = this.text(item, 'name')
    if (!('name' in item)) {
      this.problem(this.lineOf(item), `row${id === undefined ? '' : ` "${id}"`} has no name`)
    }
    const isGroup = item['group'] === true && !isExpression(item['config'])
    const fields = this.fields(item, ['id', 'name', ...PLACE_KEYS, ...(isGroup ? ['config'] : [])])
    const place = PLACE_KEYS.filter((key) => key in item)
    if (place.length > 1) this.problem(this.lineOf(item), 'a row takes before or after, not both')
    const children = isGroup
      ? this.rowList(item['config'] ?? [], this.lineOf(item, 'config'), 'the config of a group')
      : undefined
    const anchor = place[0] === undefined ? undefined : this.text(item, place[0])
    if (this.problems.length > before || name === undefined) return []
    const draft: Writable<RowDraft> = {
      ...this.at(item),
      name: this.rowName(name),
      fields: this.included(name, fields),
    }
    if (id !== undefined) draft.id = id
    if (children !== undefined) draft.children = children
    if (anchor !== undefined) draft[place[0]!] = anchor
    return [Object.freeze(draft)]
  }

  private keys(item: Mapping, known: readonly string[], what: string): void {
    for (const key of Object.keys(item)) {
      if (known.includes(key) || key.startsWith('x-')) continue
      this.problem(this.lineOf(item, key), `unknown key "${key}" in ${what}${suggestion(key, known)}`)
    }
  }

  private fields(item: Mapping, except: readonly string[]): Mapping {
    const entries = Object.entries(item).filter(([key]) => !except.includes(key))
    for (const [key, value] of entries) {
      const problem = fieldProblem(key, value)
      if (problem !== undefined) this.problem(this.lineOf(item, key), problem)
    }
    return Object.freeze(Object.fromEntries(entries))
  }

  private text(item: Mapping, key: string): string | undefined {
    const value = item[key]
    if (typeof value === 'string' && value.trim() !== '') return value
    if (key in item) this.problem(this.lineOf(item, key), `${key} must be a non-empty string, not ${kindOf(value)}`)
    return undefined
  }

  /** A relative name means a file beside the one that wrote it. */
  private rowName(name: string): string {
    if (/^\.\.?[/\\]/.test(name)) return resolve(dirname(this.file), name)
    return isAbsolute(name) ? name : canonicalName(name)
  }

  /** The file of an include is named relative to the file that includes it. */
  private included(name: string, fields: Mapping): Mapping {
    const config = fields['config']
    if (name !== 'cordis:include' || !isMapping(config)) return fields
    const path = config['path']
    if (typeof path !== 'string' || isAbsolute(path) || path.startsWith('file:')) return fields
    return { ...fields, config: { ...config, path: resolve(dirname(this.file), path) } }
  }

  private at(item: Mapping): { line?: number } {
    const line = this.lineOf(item)
    return line === undefined ? {} : { line }
  }

  private lineOf(value: unknown, key?: string | number): number | undefined {
    return typeof value === 'object' && value !== null ? this.lines?.of(value, key) : undefined
  }

  private problem(line: number | undefined, message: string): void {
    this.problems.push({ file: this.file, message, ...(line === undefined ? {} : { line }) })
  }
}
