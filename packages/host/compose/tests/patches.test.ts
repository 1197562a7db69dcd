import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { compose, dumpYaml, type Layer, readLayer, readSettings, rowData, slipOf, walkRows } from '@dsh/compose'
import { expect, test } from 'vitest'

const layer = (text: string, label = '/base.yml'): Layer => readLayer({ label, kind: 'patch', file: label, text })
const composed = (...texts: string[]) => compose(texts.map((text, i) => layer(text, `/layer${i + 1}.yml`)))
const rows = (...texts: string[]) => composed(...texts).rows.map(rowData)
const skips = (...texts: string[]) => composed(...texts).skips.map((skip) => `${skip.message} (${skip.line})`)

const BASE = `
- insert:
    - {id: a, name: pa, config: {v: 1, keep: 1}}
    - {id: b, name: pb}
    - id: g
      name: cordis:group
      group: true
      config:
        - {id: c1, name: pc1}
        - {id: c2, name: pc2}
`

test('an insert appends rows in order', () => {
  expect(rows(BASE, '- insert: [{id: z, name: pz}]').map((row) => row['id'])).toEqual(['a', 'b', 'g', 'z'])
})

test('a byte order mark and CRLF line ends are no part of a patch', () => {
  expect(rows(BASE, '\uFEFF- id: a\r\n  disabled: true\r\n')[0]).toMatchObject({ id: 'a', disabled: true })
})

test('config is replaced as a whole, never merged', () => {
  expect(rows(BASE, '- {id: a, config: {v: 2}}')[0]).toEqual({ id: 'a', name: 'pa', config: { v: 2 } })
})

test('merge changes only the keys it names, and null deletes', () => {
  const text = '- {id: a, merge: {keep: null, deep: {x: {y: 1}}}}\n- {id: a, merge: {deep: {x: {z: [2]}}}}'
  expect(rows(BASE, text)[0]!['config']).toEqual({ v: 1, deep: { x: { y: 1, z: [2] } } })
})

test('config and merge in one patch: the replacement first, then the merge', () => {
  expect(rows(BASE, '- {id: a, merge: {w: 3}, config: {v: 2}}')[0]!['config']).toEqual({ v: 2, w: 3 })
})

test('merging into a row without config makes one, into an expression or a list is skipped', () => {
  expect(rows(BASE, '- {id: b, merge: {x: 1}}')[1]!['config']).toEqual({ x: 1 })
  expect(skips(BASE, '- {id: a, config: !!js foo}\n- {id: a, merge: {x: 1}}')).toEqual([
    'patch: cannot merge into "a": its config is no mapping (2)',
  ])
})

test('a name is a guard: a wrong one skips the whole patch', () => {
  const text = '- {id: a, name: other, config: {v: 9}}\n- {id: b, name: pb, disabled: true}'
  expect(rows(BASE, text).slice(0, 2)).toEqual([
    { id: 'a', name: 'pa', config: { v: 1, keep: 1 } },
    { id: 'b', name: 'pb', disabled: true },
  ])
  expect(skips(BASE, text)).toEqual(['patch: name mismatch for "a" (expected "pa", got "other"), skipping (1)'])
})

test("the reference's package names mean ours, in rows and in guards", () => {
  const [row] = rows(
    "- insert: [{id: t, name: '@deepseek-ai/dsh-tool-fs', config: {read: false}}]",
    "- {id: t, name: '@deepseek-ai/dsh-tool-fs', config: {write: false}}",
  )
  expect(row).toEqual({ id: 't', name: '@dsh/tool-fs', config: { write: false } })
})

test("the reference's composition snippet is a list of rows", () => {
  const snippet = `
- insert:
    - name: '@deepseek-ai/dsh-fs-local'
    - name: '@deepseek-ai/dsh-fs-observation-policy'
    - name: '@deepseek-ai/dsh-tool-fs'
`
  expect(rows(snippet)).toEqual([
    { name: '@dsh/fs-local' },
    { name: '@dsh/fs-observation-policy' },
    { name: '@dsh/tool-fs' },
  ])
})

test('with an insert, everything but the id is without effect', () => {
  const result = rows(
    BASE,
    '- insert: [{id: z, name: pz, config: {v: 1}}]\n  config: {lost: true}\n- {id: z, config: {v: 2}}',
  )
  expect(result.at(-1)).toEqual({ id: 'z', name: 'pz', config: { v: 2 } })
})

test('rows inside a group can be patched, removed and added', () => {
  const text = `
- {id: c1, config: {x: 1}}
- {id: c2, remove: true}
- {id: g, insert: [{id: c3, name: pc3, before: c1}]}
`
  expect(rows(BASE, text)[2]!['config']).toEqual([
    { id: 'c3', name: 'pc3' },
    { id: 'c1', name: 'pc1', config: { x: 1 } },
  ])
})

test('a group takes a whole new list, whose rows later patches reach', () => {
  const text = '- {id: g, config: [{id: n, name: pn}]}\n- {id: n, disabled: true}'
  expect(rows(BASE, text)[2]!['config']).toEqual([{ id: 'n', name: 'pn', disabled: true }])
})

test('a new list for a group is checked like any list of rows', () => {
  expect(composed(BASE, '- {id: g, config: [{id: n}]}').problems).toEqual([
    { file: '/layer2.yml', line: 1, message: 'row "n" has no name' },
  ])
})

test('rows are placed before and after others, and a missing anchor sends them to the end', () => {
  const text = `
- insert:
    - {id: x, name: px, before: b}
    - {id: y, name: py, after: b}
    - {id: z, name: pz, after: nobody}
`
  expect(rows(BASE, text).map((row) => row['id'])).toEqual(['a', 'x', 'b', 'y', 'g', 'z'])
  expect(skips(BASE, text)).toEqual(['patch insert: after: entry "nobody" not found; "z" goes to the end (5)'])
})

test('remove takes a row out; a later insert may use its id again', () => {
  expect(rows(BASE, '- {id: a, remove: true}\n- insert: [{id: a, name: mine}]').map((row) => row['name'])).toEqual([
    'pb',
    'cordis:group',
    'mine',
  ])
})

test('an unknown id is reported with a near name, and so are inserts into nothing and into no group', () => {
  const text = `
- {id: c11, disabled: true}
- {id: nowhere, insert: [{name: p}]}
- {id: a, insert: [{name: p}]}
`
  expect(skips(BASE, text)).toEqual([
    'patch: entry "c11" not found — did you mean "c1"? (2)',
    'patch insert: entry "nowhere" not found (3)',
    'patch insert: entry "a" is not a group (4)',
  ])
})

test('a section of the settings is told where it names no row but nearly does', () => {
  const SHIPPED = '- insert: [{id: tool-fs, name: p}, {id: tool-todo, name: q}]'
  const told = (text: string) =>
    compose([layer(SHIPPED), readSettings({ label: '/s.yaml', kind: 'settings', file: '/s.yaml', text })]).skips.map(
      (skip) => `${skip.message} (${skip.line})`,
    )
  expect(told('tool-todo: {a: 1}\ntool-fss: {b: 1}')).toEqual([
    'settings: row "tool-fss" not found — did you mean "tool-fs"? (2)',
  ])
  expect(told('tool-tdoo: {a: 1}')).toHaveLength(1)
  // Rows of other profiles, and sections that are read by the rows themselves.
  expect(told('terminal: {a: 1}\ntool-bash: {a: 1}\nshell: {a: 1}\nfs: {a: 1}')).toEqual([])
})

test('no row that ships is taken for a slip of another', () => {
  const bundles = path.resolve(import.meta.dirname, '../../../../bundles')
  const ids = new Set(
    readdirSync(bundles).flatMap((name) => {
      const file = path.join(bundles, name, 'cordis.patch.yml')
      const rows = compose([layer(readFileSync(file, 'utf8'), file)]).rows
      return [...walkRows(rows)].map((row) => row.id)
    }),
  )
  expect(ids.size).toBeGreaterThan(20)
  for (const id of ids)
    expect([
      id,
      slipOf(
        id,
        [...ids].filter((other) => other !== id),
      ),
    ]).toEqual([id, undefined])
})

test('relative names mean files beside the one that wrote them', () => {
  const text = '- insert: [{name: ./x.mjs}, {name: ../y.mjs}, {name: /abs.mjs}, {name: pkg/sub}]'
  expect(compose([layer(text, '/etc/dir/p.yml')]).rows.map((row) => row.name)).toEqual([
    '/etc/dir/x.mjs',
    '/etc/y.mjs',
    '/abs.mjs',
    'pkg/sub',
  ])
})

test('the dialect: core schema scalars, literal merge keys, aliases, expressions as leaves', () => {
  const text = `
- insert:
    - id: a
      name: p
      config:
        date: 2024-01-01
        yes: yes
        octal: 0o17
        none: ~
        '<<': {q: 1}
        base: &b {x: 1}
        again: *b
        js: !!js "1 + 1"
        env: !env HOME
        home: !home x/y
`
  const config = rows(text)[0]!['config'] as Record<string, unknown>
  expect(JSON.parse(JSON.stringify(config))).toEqual({
    date: '2024-01-01',
    yes: 'yes',
    octal: 15,
    none: null,
    '<<': { q: 1 },
    base: { x: 1 },
    again: { x: 1 },
    js: { '!!js': '1 + 1' },
    env: { '!env': 'HOME' },
    home: { '!home': 'x/y' },
  })
})

test('a dump names the layers of each run of rows and keeps expressions as they are', () => {
  const dump = dumpYaml(
    composed(
      `
- insert:
    - {id: a, name: pa}
    - {id: b, name: pb, config: {x: !!js process.env.FOO ?? 'q'}}
    - {id: c, name: pc}
`,
      '- {id: b, disabled: !!js "process.platform === \'win32\'"}\n- insert: [{id: d, name: pd}]',
    ),
  )
  expect(dump).toBe(`# == /layer1.yml
- id: a
  name: pa
# == /layer1.yml, patched by /layer2.yml
- id: b
  name: pb
  config:
    x: !!js process.env.FOO ?? 'q'
  disabled: !!js process.platform === 'win32'
# == /layer1.yml
- id: c
  name: pc
# == /layer2.yml
- id: d
  name: pd
`)
})

test('a patch to a row in a group shows on the group', () => {
  expect(dumpYaml(composed(BASE, '- {id: c1, config: {x: 1}}'))).toContain(
    '# == /layer1.yml, patched by /layer2.yml\n- id: g\n',
  )
})
