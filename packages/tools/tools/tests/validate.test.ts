import { expect, test } from 'vitest'
import { dropNulls, parseArguments } from '../src/arguments.ts'
import { assertSupportedSchema } from '../src/schema-subset.ts'
import type { JsonSchema } from '../src/types.ts'
import { violations } from '../src/validate.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    command: { type: 'string' },
    count: { type: 'integer' },
    mode: { type: 'string', enum: ['a', 'b'] },
    list: {
      type: 'array',
      items: { type: 'object', additionalProperties: false, properties: { x: { type: 'number' } }, required: ['x'] },
    },
    either: {
      oneOf: [{ type: 'string' }, { type: 'object', properties: { y: { type: 'boolean' } }, required: ['y'] }],
    },
    fixed: { const: 1 },
    nothing: { type: 'null' },
  },
  required: ['command', 'list'],
}

const check = (value: unknown) => violations(schema, value, 'arguments')

test('every violation is told, missing names first, then children in schema order, then undeclared keys', () => {
  expect(check({ mode: 'c', count: 1.5 })).toEqual([
    'missing required property "command"',
    'missing required property "list"',
    '"count" must be an integer',
    '"mode" must be one of ["a","b"]',
  ])
  expect(check({ command: 'x', list: [{ z: 1 }, { x: '1' }, 3] })).toEqual([
    'missing required property "list[0].x"',
    '"list[0].z" is not a declared property (additionalProperties: false)',
    '"list[1].x" must be a number',
    '"list[2]" must be an object',
  ])
})

test('nothing is coerced, and unknown keys of an open object are ignored', () => {
  expect(check({ command: 5, list: {}, count: '3' })).toEqual([
    '"command" must be a string',
    '"count" must be an integer',
    '"list" must be an array',
  ])
  expect(check({ command: 'x', list: [], other: { deep: true } })).toEqual([])
})

test('a value that is no object, a wrong constant, a non-null and an ambiguous branch have their own texts', () => {
  expect(check('{"command":')).toEqual(['"arguments" must be an object'])
  expect(check({ command: 'x', list: [], fixed: 2, nothing: 0, either: { y: 'no' } })).toEqual([
    '"either" must match exactly one oneOf branch (matched 0)',
    '"fixed" must be 1',
    '"nothing" must be null',
  ])
  expect(violations({ type: 'number' }, Number.NaN, 'value')).toEqual(['"value" must be a finite JSON number'])
})

test('optional scalars given as null count as absent, required ones and objects do not', () => {
  const parameters: JsonSchema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      limit: { type: 'number' },
      deep: { type: 'object', properties: { flag: { type: 'boolean' } } },
      items: { type: 'array', items: { type: 'object', properties: { note: { type: 'string' } } } },
    },
    required: ['name'],
  }
  const args = { name: null, limit: null, deep: { flag: null }, items: [{ note: null }], other: null }
  expect(dropNulls({ parameters }, args)).toEqual({ name: null, deep: {}, items: [{}], other: null })
  expect(dropNulls({ parameters, nullIsAbsent: false }, args)).toBe(args)
  const clean = { name: 'x', items: [{ note: 'y' }] }
  expect(dropNulls({ parameters }, clean)).toBe(clean)
})

test('raw arguments: nothing is an empty object, no JSON stays a string, -0 is refused', () => {
  expect(parseArguments('')).toEqual({ kind: 'parsed', value: {} })
  expect(parseArguments('{bad')).toEqual({ kind: 'parsed', value: '{bad' })
  expect(parseArguments('{"a":-0}')).toEqual({ kind: 'lossy' })
})

test('a schema that says more than is enforced is refused, with every place named', () => {
  expect(() => assertSupportedSchema(schema, 'parameters')).not.toThrow()
  expect(() =>
    assertSupportedSchema(
      { type: 'object', properties: { a: { type: 'string', pattern: 'x' }, b: { oneOf: [{}] } } },
      'parameters',
    ),
  ).toThrow(
    'unsupported JSON schema: parameters.properties.a uses unsupported keyword "pattern"; parameters.properties.b.oneOf must list at least two branches',
  )
})
