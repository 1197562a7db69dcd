import { expect, test } from 'vitest'
import { knownConfigs, withoutPaths, withPaths } from '../src/known-configs.ts'

test('a config and the same one with other paths have one text, and each gets its own paths back', () => {
  const here = { root: '/a', also: ['/b', '/a'], name: 'a/b', deep: { at: '/b' } }
  const there = { root: '/x y/ä', also: ['/tmp', '/x y/ä'], name: 'a/b', deep: { at: '/tmp' } }
  const paths: string[] = []
  const text = withoutPaths(here, paths)
  const others: string[] = []
  expect(withoutPaths(there, others)).toBe(text)
  expect(paths).toEqual(['/a', '/b'])
  expect(withPaths(text, paths)).toEqual(here)
  expect(withPaths(text, others)).toEqual(there)
})

test('which paths are the same is part of the text', () => {
  expect(withoutPaths({ a: '/x', b: '/x' }, [])).not.toBe(withoutPaths({ a: '/x', b: '/y' }, []))
})

test('outside the built program nothing is known, so every schema is asked', () => {
  expect(knownConfigs()('@dsh/settings-file', {})).toBeUndefined()
})
