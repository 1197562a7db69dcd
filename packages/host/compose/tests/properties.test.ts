import {
  type Composition,
  checkComposition,
  compose,
  dumpYaml,
  type Layer,
  merge,
  readLayer,
  readPatches,
  rowData,
} from '@dsh/compose'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'

const ids = ['a', 'b', 'c', 'd', 'g']
const id = fc.constantFrom(...ids)
const config = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const row = fc.record(
  { id, name: fc.constantFrom('p', 'q', '@dsh/x'), config, disabled: fc.boolean(), before: id },
  { requiredKeys: ['name'] },
)
const group = fc.record({
  id: fc.constant('g'),
  name: fc.constant('cordis:group'),
  group: fc.constant(true),
  config: fc.array(row, { maxLength: 2 }),
})
const patch = fc.oneof(
  fc.record({ insert: fc.array(fc.oneof(row, group), { maxLength: 3 }) }),
  fc.record({ id: fc.constant('g'), insert: fc.array(row, { maxLength: 2 }) }),
  fc.record({ id, config, disabled: fc.boolean(), name: fc.constantFrom('p', 'q') }, { requiredKeys: ['id'] }),
  fc.record({ id, merge: config }),
  fc.record({ id, remove: fc.constant(true) }),
)
const patches = fc.array(patch, { maxLength: 8 })
const layers = fc.array(patches, { minLength: 1, maxLength: 4 })

const layerOf = (list: unknown, i: number): Layer =>
  readPatches({ label: `/l${i}.yml`, kind: 'patch', file: `/l${i}.yml` }, list)
const data = (composition: Composition) => composition.rows.map(rowData)
const runs = Number(process.env['DSH_PROPERTY_RUNS'] ?? 200)
const options = { seed: 20261, numRuns: runs }

function ok(composition: Composition): boolean {
  try {
    checkComposition(composition)
    return true
  } catch {
    return false
  }
}

test('composing changes no input', () => {
  fc.assert(
    fc.property(layers, (lists) => {
      const before = JSON.stringify(lists)
      const read = lists.map(layerOf)
      const frozen = JSON.stringify(read)
      compose(read)
      expect(JSON.stringify(lists)).toBe(before)
      expect(JSON.stringify(read)).toBe(frozen)
    }),
    options,
  )
})

test('the same layers give the same rows, and taking a layer away again gives what was there before', () => {
  fc.assert(
    fc.property(layers, patches, (lists, extra) => {
      const read = lists.map(layerOf)
      const before = data(compose(read))
      compose([...read, layerOf(extra, 99)])
      expect(data(compose(read))).toEqual(before)
    }),
    options,
  )
})

test('a dump loads again as one layer and gives the rows it shows', () => {
  fc.assert(
    fc.property(layers, (lists) => {
      const composition = compose(lists.map(layerOf))
      fc.pre(ok(composition))
      const dump = dumpYaml(composition)
      const text = `- insert:\n${dump.replace(/^/gm, '    ')}`
      const again = compose([readLayer({ label: '/d', kind: 'patch', file: '/d', text })])
      expect(data(again)).toEqual(data(composition))
    }),
    options,
  )
})

test('a layer of whole replacements applied twice is the same as once', () => {
  const sets = fc.array(fc.record({ id, config, disabled: fc.boolean() }), { maxLength: 5 })
  fc.assert(
    fc.property(layers, sets, (lists, extra) => {
      const read = lists.map(layerOf)
      const layer = layerOf(extra, 99)
      expect(data(compose([...read, layer, layer]))).toEqual(data(compose([...read, layer])))
    }),
    options,
  )
})

test('patch data and the same data as YAML text compose alike', () => {
  fc.assert(
    fc.property(patches, (list) => {
      const text = stringify(list, { aliasDuplicateObjects: false })
      const fromText = compose([readLayer({ label: '/l0.yml', kind: 'patch', file: '/l0.yml', text })])
      expect(data(fromText)).toEqual(data(compose([layerOf(list, 0)])))
    }),
    options,
  )
})

test('merging the same mapping twice is the same as once', () => {
  fc.assert(
    fc.property(config, config, (base, patchOf) => {
      const once = merge(base, patchOf)
      expect(merge(once, patchOf)).toEqual(once)
    }),
    options,
  )
})
