import { Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { credentialsError } from './errors.ts'
import { type CredentialsDocument, emptyDocument, RECORD_KEY, REFERENCE, SECTIONS } from './names.ts'
import type { CredentialRecord } from './types.ts'

/** Reads the file strictly. Messages name lines and keys, never a value. */
export function parseCredentials(text: string, file: string): CredentialsDocument {
  const { data, lineOf } = parseMapping(text, file)
  const fail = (key: string | undefined, message: string): never => {
    const line = key === undefined ? undefined : lineOf(key)
    throw credentialsError('CREDENTIALS_INVALID', `${file}${line === undefined ? '' : `:${line}`}: ${message}`)
  }
  if (data === undefined) return emptyDocument
  if (!('version' in data)) fail(undefined, 'must start with "version: 1" and keep its secrets under "refs:"')
  if (data['version'] !== 1) fail('version', 'version must be 1')
  for (const key of Object.keys(data)) {
    if (!SECTIONS.includes(key)) fail(key, `unknown key "${key}"`)
  }
  const refs = new Map<string, string>()
  for (const [name, secret] of Object.entries(mapping(data['refs'], () => fail('refs', 'refs must be a mapping')))) {
    const at = `refs.${name}`
    if (!REFERENCE.test(name)) fail(at, `refs: "${name}" is no reference: letters, digits and _ only`)
    if (typeof secret !== 'string' || secret === '') fail(at, `refs.${name} must be a non-empty string`)
    refs.set(name, secret as string)
  }
  const records = new Map<string, CredentialRecord>()
  const entries = Object.entries(mapping(data['records'], () => fail('records', 'records must be a mapping')))
  for (const [key, value] of entries) {
    const at = `records.${key}`
    if (!RECORD_KEY.test(key)) fail(at, `records: "${key}" is no record key: <scope>/<id> in lower case`)
    const problem = recordProblem(value)
    if (problem !== undefined) fail(at, `records.${key}: ${problem}`)
    records.set(key, value as CredentialRecord)
  }
  return { refs, records }
}

/** The oldest layout, a flat mapping of references: exactly that, or undefined. */
export function legacyReferences(text: string): ReadonlyMap<string, string> | undefined {
  const document = parseDocument(text, { stringKeys: true, logLevel: 'error' })
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined
  const entries = Object.entries(document.toJS() as Record<string, unknown>)
  const flat = entries.every(
    ([key, value]) => REFERENCE.test(key) && !SECTIONS.includes(key) && typeof value === 'string' && value !== '',
  )
  return flat && entries.length > 0 ? new Map(entries as [string, string][]) : undefined
}

function recordProblem(value: unknown): string | undefined {
  if (!isMapping(value)) return 'must be a mapping'
  const kind = value['kind']
  if (kind !== 'api-key' && kind !== 'grant') return 'kind must be api-key or grant'
  const fields = kind === 'api-key' ? ['key', 'env'] : ['payload']
  const unknown = Object.keys(value).find((key) => key !== 'kind' && !fields.includes(key))
  if (unknown !== undefined) return `unknown field "${unknown}"`
  if (kind === 'grant') return 'payload' in value ? undefined : 'payload is missing'
  const bad = fields.find((key) => key in value && (typeof value[key] !== 'string' || value[key] === ''))
  return bad === undefined ? undefined : `${bad} must be a non-empty string`
}

function parseMapping(text: string, file: string) {
  const counter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  })
  const lineAt = (offset: number) => counter.linePos(offset).line
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) {
    const what = fault.code === 'MULTIPLE_DOCS' ? 'a second document begins here' : `invalid YAML (${fault.code})`
    const message = `${file}:${lineAt(fault.pos[0])}: ${what}; correct it, or move the file away and store the keys again: dsh login`
    throw credentialsError('CREDENTIALS_INVALID', message)
  }
  const contents = document.contents
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return { data: undefined, lineOf: () => undefined }
  }
  if (!isMap(contents)) throw credentialsError('CREDENTIALS_INVALID', `${file}:1: must be a mapping`)
  const lines = new Map<string, number>()
  for (const pair of contents.items) {
    const key = pair.key as unknown as { value: string; range?: [number] }
    if (key.range !== undefined) lines.set(key.value, lineAt(key.range[0]))
    if (!isMap(pair.value)) continue
    for (const child of pair.value.items) {
      const name = child.key as unknown as { value: string; range?: [number] }
      if (name.range !== undefined) lines.set(`${key.value}.${name.value}`, lineAt(name.range[0]))
    }
  }
  return { data: document.toJS() as Record<string, unknown>, lineOf: (key: string) => lines.get(key) }
}

function mapping(value: unknown, fail: () => never): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  return isMapping(value) ? value : fail()
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same document with one entry set, or removed by `undefined`; comments and order stay. */
export function edited(text: string, section: 'refs' | 'records', key: string, value: unknown): string {
  const document = parseDocument(text, { stringKeys: true }) as unknown as Document
  if (document.contents === null || document.get('version') === undefined) document.set('version', 1)
  if (value === undefined) {
    if (document.hasIn([section, key])) document.deleteIn([section, key])
  } else document.setIn([section, key], value)
  return document.toString({ lineWidth: 0 })
}

/** A new document of these references. */
export function documentOf(refs: ReadonlyMap<string, string>): string {
  return new Document({ version: 1, refs: Object.fromEntries(refs) }).toString({ lineWidth: 0 })
}
