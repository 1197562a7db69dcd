import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCredentials } from '../src/service.ts'
import { CredentialsStore } from '../src/store.ts'

let dir: string
let file: string
const environment: Record<string, Record<string, string>> = {}
const warnings: unknown[] = []
const updated: string[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'credentials-'))
  file = join(dir, '.credentials.yaml')
  for (const key of ['process', 'project-env', 'user-env']) environment[key] = {}
  warnings.length = 0
  updated.length = 0
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (text: string, mode = 0o600) => {
  writeFileSync(file, text, { mode })
  chmodSync(file, mode)
}
const credentials = () =>
  createCredentials({
    store: new CredentialsStore(file),
    environment: (name, source) => environment[source]?.[name],
    warn: (error) => warnings.push(error),
    onReference: (reference) => updated.push(reference),
    onRecord: (key) => updated.push(key),
  })

test('the inherited environment wins over the file, the file over both .env files, the project over the home', async () => {
  environment['user-env'] = { KEY: 'home' }
  const service = credentials()
  expect(await service.resolve('KEY')).toBe('home')
  environment['project-env'] = { KEY: 'project' }
  expect(await service.resolve('KEY')).toBe('project')
  write('version: 1\nrefs: {KEY: stored}\n')
  expect(await service.resolve('KEY')).toBe('stored')
  environment['process'] = { KEY: 'shell' }
  expect(await service.resolve('KEY')).toBe('shell')
  expect(await service.describe('KEY')).toEqual({ configured: true, source: 'env', writable: false })
})

test('a reference that nobody knows resolves to nothing and is told to be writable', async () => {
  expect(await credentials().resolve('KEY')).toBeUndefined()
  expect(await credentials().describe('KEY')).toEqual({ configured: false, writable: true })
})

test('storing a secret makes a private file, keeps comments and tells the listeners', async () => {
  await credentials().set('KEY', 's3cret')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  write(`# mine\n${readFileSync(file, 'utf8')}`)
  await credentials().set('OTHER', 'x')
  await credentials().unset('KEY')
  expect(readFileSync(file, 'utf8')).toBe('# mine\nversion: 1\nrefs:\n  OTHER: x\n')
  expect(updated).toEqual(['KEY', 'OTHER', 'KEY'])
})

test('a secret that the environment supplies cannot be stored over it', async () => {
  environment['process'] = { KEY: 'shell' }
  await expect(credentials().set('KEY', 'x')).rejects.toThrow(
    '"KEY" is supplied read-only by the launching environment, so set would be shadowed; unset it in the shell',
  )
})

test('records are stored beside the references', async () => {
  await credentials().setRecord('provider/main', { kind: 'api-key', env: 'KEY' })
  expect(await credentials().record('provider/main')).toEqual({ kind: 'api-key', env: 'KEY' })
  await credentials().unsetRecord('provider/main')
  expect(await credentials().record('provider/main')).toBeUndefined()
  await expect(credentials().setRecord('Provider', { kind: 'grant', payload: {} })).rejects.toThrow('no record key')
})

test('a file that others can read refuses the start with the remedy', async () => {
  write('version: 1\n', 0o644)
  await expect(new CredentialsStore(file).open()).rejects.toThrow(
    `${file} is readable beyond its owner (mode 644); run "chmod 600 ${file}" before starting again`,
  )
})

test('the oldest layout is rewritten in place at the start', async () => {
  write('KEY: one\nOTHER: two\n')
  await new CredentialsStore(file).open()
  expect(readFileSync(file, 'utf8')).toBe('version: 1\nrefs:\n  KEY: one\n  OTHER: two\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a later break of the file keeps the last good content and warns without quoting it', async () => {
  write('version: 1\nrefs: {KEY: stored}\n')
  const service = credentials()
  expect(await service.resolve('KEY')).toBe('stored')
  write('version: 1\nrefs: {KEY: [s3cret]}\n')
  expect(await service.resolve('KEY')).toBe('stored')
  expect(warnings).toHaveLength(1)
  expect(String(warnings[0])).not.toContain('s3cret')
})

test.each([
  ['- s3cret\n', ':1: must be a mapping'],
  ['s3cret\n', ':1: must be a mapping'],
  ['refs: {KEY: s3cret}\n', 'must start with "version: 1"'],
  ['version: 2\n', ':1: version must be 1'],
  ["version: '1'\n", ':1: version must be 1'],
  ['version: 1\nsecrets: {}\n', ':2: unknown key "secrets"'],
  ['version: 1\nrefs: s3cret\n', ':2: refs must be a mapping'],
  ['version: 1\nrefs: [s3cret]\n', ':2: refs must be a mapping'],
  ['version: 1\nrefs:\n  KEY: 5\n', ':3: refs.KEY must be a non-empty string'],
  ["version: 1\nrefs:\n  KEY: ''\n", ':3: refs.KEY must be a non-empty string'],
  ['version: 1\nrefs:\n  KEY:\n', ':3: refs.KEY must be a non-empty string'],
  ['version: 1\nrefs:\n  1KEY: s3cret\n', ':3: refs: "1KEY" is no reference'],
  ['version: 1\nrefs:\n  KEY: a\n  KEY: s3cret\n', ':4: invalid YAML'],
  ['version: 1\nrefs: {KEY: s3cret\n', 'invalid YAML'],
  ['version: 1\nrefs:\n\tKEY: s3cret\n', 'invalid YAML'],
  ['version: 1\nrefs:\n  KEY: !!js s3cret\n', ':3: invalid YAML'],
  [
    'version: 1\n---\nversion: 1\n',
    ':2: a second document begins here; correct it, or move the file away and store the keys again: dsh login',
  ],
  ['version: 1\nrecords: 5\n', ':2: records must be a mapping'],
  ['version: 1\nrecords:\n  Main: {kind: grant, payload: 1}\n', ':3: records: "Main" is no record key'],
  ['version: 1\nrecords:\n  a/b: s3cret\n', ':3: records.a/b: must be a mapping'],
  ['version: 1\nrecords:\n  a/b: {kind: token}\n', ':3: records.a/b: kind must be api-key or grant'],
  ['version: 1\nrecords:\n  a/b: {kind: api-key, key: 5}\n', ':3: records.a/b: key must be a non-empty string'],
  ['version: 1\nrecords:\n  a/b: {kind: api-key, secret: s3cret}\n', ':3: records.a/b: unknown field "secret"'],
  ['version: 1\nrecords:\n  a/b: {kind: grant}\n', ':3: records.a/b: payload is missing'],
])('refuses %j, naming line or key and no value', async (text, expected) => {
  write(text)
  const error = await new CredentialsStore(file).open().then(
    () => undefined,
    (reason: unknown) => reason as Error,
  )
  expect(error?.message).toContain(expected)
  expect(error?.message).toContain(file)
  expect(error?.message).not.toContain('s3cret')
})

test('two processes that store at once lose nothing', async () => {
  await Promise.all(['A', 'B', 'C', 'D'].map((name) => credentials().set(name, name)))
  const service = credentials()
  expect(await Promise.all(['A', 'B', 'C', 'D'].map((name) => service.resolve(name)))).toEqual(['A', 'B', 'C', 'D'])
})
