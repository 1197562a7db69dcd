import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSettings } from '../src/service.ts'

let dir: string
let file: string
const told: unknown[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'settings-'))
  file = join(dir, 'settings.yaml')
  told.length = 0
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const settings = () =>
  createSettings({ file, onSection: (namespace, next, previous) => told.push([namespace, next, previous]) })

test('a first write makes a private file with one section', async () => {
  await settings().update('agent-default-model', { model: 'x' })
  expect(readFileSync(file, 'utf8')).toBe('agent-default-model:\n  model: x\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(told).toEqual([['agent-default-model', { model: 'x' }, undefined]])
})

test('an update merges, deletes with null, and keeps comments and other sections', async () => {
  writeFileSync(file, '# mine\na:\n  # why\n  x: 1\n  y: {z: 2}\nb: {q: [1]}\n')
  await settings().update('a', { x: null, y: { w: 3 } })
  expect(readFileSync(file, 'utf8')).toBe('# mine\na:\n  # why\n  y: { z: 2, w: 3 }\nb: { q: [ 1 ] }\n')
  expect(await settings().section('a')).toEqual({ y: { z: 2, w: 3 } })
})

test('a section is replaced or removed as a whole', async () => {
  await settings().update('a', { x: 1, y: 2 })
  await settings().replace('a', { z: 3 })
  expect(await settings().section('a')).toEqual({ z: 3 })
  await settings().replace('a', undefined)
  expect(await settings().section('a')).toBeUndefined()
})

test('single edits reach into a section', async () => {
  await settings().mutate('a', [
    { op: 'set', path: ['x', 'y'], value: [1, 2] },
    { op: 'set', path: ['q'], value: true },
    { op: 'unset', path: ['q'] },
  ])
  expect(await settings().section('a')).toEqual({ x: { y: [1, 2] } })
})

test('a write over somebody else’s change is refused when it names the revision it has read', async () => {
  const service = settings()
  const before = await service.revision()
  await service.update('a', { x: 1 })
  await expect(service.update('a', { x: 2 }, { expectedRevision: before })).rejects.toMatchObject({
    code: 'SETTINGS_CONFLICT',
  })
  await service.update('a', { x: 3 }, { expectedRevision: await service.revision() })
  expect(await service.section('a')).toEqual({ x: 3 })
})

test('writes at the same time all land', async () => {
  const [one, two] = [settings(), settings()]
  await Promise.all([one.update('a', { x: 1 }), two.update('a', { y: 2 }), one.update('b', { z: 3 })])
  expect(await one.section('a')).toEqual({ x: 1, y: 2 })
  expect(await one.section('b')).toEqual({ z: 3 })
})

test('a broken file is not overwritten, and the message names its line', async () => {
  writeFileSync(file, 'a: {x: 1\n')
  await expect(settings().update('a', { x: 2 })).rejects.toThrow(`${file}:`)
  expect(readFileSync(file, 'utf8')).toBe('a: {x: 1\n')
})

test('values that are no JSON and namespaces that are none are refused', async () => {
  await expect(settings().update('a', { x: Number.NaN })).rejects.toThrow('not losslessly JSON')
  await expect(settings().update('A b', { x: 1 })).rejects.toThrow('"A b" is no namespace')
})

test('a file of two documents is refused with the line of the second, in words of its own', async () => {
  writeFileSync(file, 'a: {x: 1}\n---\nb: {y: 2}\n')
  await expect(settings().update('a', { x: 2 })).rejects.toThrow(
    `${file}:2: invalid YAML: a second document begins here; the file must hold one`,
  )
})
