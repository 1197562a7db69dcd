import { ComposeError, checkComposition, compose, readLayer, readSettings } from '@dsh/compose'
import { expect, test } from 'vitest'

function faults(text: string, read = readLayer): string[] {
  try {
    const layer = read({ label: '/p.yml', kind: 'patch', file: '/p.yml', text })
    checkComposition(compose([layer]))
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ComposeError)
    return (error as ComposeError).message.split('\n')
  }
}

test.each([
  ['foo: [unclosed', '/p.yml:1: invalid YAML: '],
  ['- id: a\n---\n- id: b', '/p.yml:2: invalid YAML: a second document begins here; the file must hold one'],
  [
    '---\n- id: a\n...\n# b\n---\n- id: b',
    '/p.yml:5: invalid YAML: a second document begins here; the file must hold one',
  ],
  ['foo: bar', '/p.yml:1: must be a list of patches, not a mapping'],
  ['just words', '/p.yml:1: must be a list of patches, not "just words"'],
  ['5', '/p.yml:1: must be a list of patches, not 5'],
  ['- 5', '/p.yml:1: entry 1 must be a mapping, not 5'],
  ['- id: a\n- word', '/p.yml:2: entry 2 must be a mapping, not "word"'],
  ['- id: a\n- [x]', '/p.yml:2: entry 2 must be a mapping, not a list'],
  ['-', '/p.yml:1: entry 1 must be a mapping, not nothing'],
  ['- disabled: true', '/p.yml:1: a patch needs an id or an insert'],
  ['- id: 5', '/p.yml:1: id must be a non-empty string, not 5'],
  ["- id: ''", '/p.yml:1: id must be a non-empty string, not ""'],
  ['- id:', '/p.yml:1: id must be a non-empty string, not nothing'],
  ['- id: !!js x', '/p.yml:1: id must be a non-empty string, not an expression (!!js)'],
  ['- id: a\n  name: 5', '/p.yml:2: name must be a non-empty string, not 5'],
  ['- id: a\n  disabeld: true', '/p.yml:2: unknown key "disabeld" in a patch — did you mean "disabled"?'],
  ['- id: a\n  zzz: true', '/p.yml:2: unknown key "zzz" in a patch'],
  ["- id: a\n  disabled: 'no'", '/p.yml:2: disabled must be true, false or an expression, not "no"'],
  ['- id: a\n  disabled: 0', '/p.yml:2: disabled must be true, false or an expression, not 0'],
  ['- id: a\n  disabled: [x]', '/p.yml:2: disabled must be true, false or an expression, not a list'],
  ['- id: a\n  group: yes', '/p.yml:2: group must be true or false, not "yes"'],
  ['- id: a\n  group: !!js x', '/p.yml:2: group must be true or false, not an expression (!!js)'],
  ['- id: a\n  inject: foo', '/p.yml:2: inject must be a list of service names or a mapping of them'],
  ['- id: a\n  inject: [5]', '/p.yml:2: inject must be a list of service names or a mapping of them'],
  ["- id: a\n  inject: ['']", '/p.yml:2: inject must be a list of service names or a mapping of them'],
  ['- id: a\n  isolate: [x]', '/p.yml:2: isolate must be a mapping of service names, not a list'],
  ['- id: a\n  isolate: {x: 5}', '/p.yml:2: isolate.x must be true or a label, not 5'],
  ["- id: a\n  isolate: {x: ''}", '/p.yml:2: isolate.x must be true or a label, not ""'],
  ['- id: a\n  intercept: 5', '/p.yml:2: intercept must be a mapping of service names, not 5'],
  ['- id: a\n  merge: 5', '/p.yml:2: merge must be a mapping, not 5'],
  ['- id: a\n  merge:', '/p.yml:2: merge must be a mapping, not nothing'],
  ['- id: a\n  merge: !!js x', '/p.yml:2: merge must be a mapping, not an expression (!!js)'],
  ['- id: a\n  remove: false', '/p.yml:2: remove takes only true, not false'],
  ['- id: a\n  remove: yes', '/p.yml:2: remove takes only true, not "yes"'],
  ['- insert: 5', '/p.yml:1: insert must be a list of rows, not 5'],
  ['- insert: {id: a, name: b}', '/p.yml:1: insert must be a list of rows, not a mapping'],
  ['- insert:', '/p.yml:1: insert must be a list of rows, not nothing'],
  ['- insert: [5]', '/p.yml:1: insert entry 1 must be a mapping, not 5'],
  ['- insert:\n  - id: a', '/p.yml:2: row "a" has no name'],
  ['- insert:\n  - config: {}', '/p.yml:2: row has no name'],
  ['- insert:\n  - id: a\n    name:', '/p.yml:3: name must be a non-empty string, not nothing'],
  ['- insert:\n  - id: a\n    name: !!js x', '/p.yml:3: name must be a non-empty string, not an expression (!!js)'],
  ['- insert:\n  - {id: a, name: p, nmae: q}', '/p.yml:2: unknown key "nmae" in a row — did you mean "name"?'],
  ['- insert:\n  - {id: a, name: p, remove: true}', '/p.yml:2: unknown key "remove" in a row'],
  ['- insert:\n  - {id: a, name: p, before: 5}', '/p.yml:2: before must be a non-empty string, not 5'],
  ['- insert:\n  - {id: a, name: p, before: x, after: y}', '/p.yml:2: a row takes before or after, not both'],
  ["- insert:\n  - {id: a, name: p, disabled: 'no'}", '/p.yml:2: disabled must be true, false or an expression'],
  [
    '- insert:\n  - {id: a, name: p, group: true, config: {}}',
    '/p.yml:2: the config of a group must be a list of rows',
  ],
  ['- insert:\n  - id: g\n    name: p\n    group: true\n    config:\n    - id: x', '/p.yml:6: row "x" has no name'],
  ['- insert:\n  - {id: a, name: p}\n  - {id: a, name: q}', '/p.yml:3: duplicate row id "a", first used in /p.yml:2'],
  [
    '- insert: [{id: a, name: p}]\n- insert: [{id: a, name: q}]',
    '/p.yml:2: duplicate row id "a", first used in /p.yml:1',
  ],
  ['- id: a\n  id: b', '/p.yml:2: invalid YAML: '],
  ['- id: a\n  config: !foo x', '/p.yml:2: invalid YAML: '],
  ['- id: a\n  config: !!js', '/p.yml:2: invalid YAML: !!js needs a value'],
  ['- id: a\n  config: !env', '/p.yml:2: invalid YAML: !env needs a value'],
  ['- id: a\n\tconfig: 1', 'invalid YAML: '],
  ['- id: a\n  config: *nobody', 'invalid YAML: '],
  ['- id: a\n  config: &x [*x]', '/p.yml:2: invalid YAML: an alias contains itself'],
  ['- id: a\n  config: "unterminated', 'invalid YAML: '],
  ['- {id: a', 'invalid YAML: '],
  ['- id: a\n config: 1\n   x: 2', 'invalid YAML: '],
  ['- insert: [{id: a, name: p}]\n- {id: a, group: true, config: {x: 1}}', 'became a group, but its config is no list'],
])('a patch file that says %j is refused in one line', (text, expected) => {
  const lines = faults(text)
  expect(lines.join('\n')).toContain(expected)
  expect(lines).toHaveLength(1)
})

test('an empty file, a comment and an empty list are no patches', () => {
  for (const text of ['', '\n\n', '# nothing yet\n', '[]', '---\n', 'null']) expect(faults(text)).toEqual([])
})

test('keys that start with x- are for notes', () => {
  expect(faults('- insert: [{id: a, name: p, x-why: because}]\n- {id: a, x-note: 1}')).toEqual([])
})

test('every problem of a file is reported at once', () => {
  expect(faults('- 5\n- {id: a, foo: 1}\n- insert: [{id: b}]')).toHaveLength(3)
})

test.each([
  ['- a', '/p.yml:1: must be a mapping of namespaces, not a list'],
  ['word', '/p.yml:1: must be a mapping of namespaces, not "word"'],
  ['a: 5', '/p.yml:1: a must be a mapping, not 5'],
  ['a: {}\nb: [x]', '/p.yml:2: b must be a mapping, not a list'],
  ['a: {}\nb:', '/p.yml:2: b must be a mapping, not nothing'],
  ['A: {}', '/p.yml:1: "A" is no namespace: lower-case letters, digits and - only'],
  ['a b: {}', '/p.yml:1: "a b" is no namespace'],
  ['1a: {}', '/p.yml:1: "1a" is no namespace'],
  ['a: {x: !!js y}', '/p.yml:1: a holds an expression; settings are plain values'],
  ['a: {x: [{y: !env Y}]}', '/p.yml:1: a holds an expression; settings are plain values'],
  ['a: {x: 1', 'invalid YAML: '],
  ['a: {x: 1}\na: {y: 1}', '/p.yml:2: invalid YAML: '],
])('a settings file that says %j is refused in one line', (text, expected) => {
  const lines = faults(text, readSettings)
  expect(lines.join('\n')).toContain(expected)
  expect(lines).toHaveLength(1)
})
