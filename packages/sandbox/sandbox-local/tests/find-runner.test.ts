import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findExecutable, trusted } from '../src/find-runner.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(homedir(), '.dsh-runner-')))
})
afterEach(() => rmSync(dir, { recursive: true }))

function plant(path: string, mode = 0o755): string {
  const file = join(dir, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, mode)
  return file
}
const find = (path: string[], untrusted: string[] = []) =>
  findExecutable('bwrap', { path: path.join(':'), untrusted, system: [] })?.path

it('takes the first program on PATH that nobody confined can change', () => {
  const own = plant('opt/bwrap')
  plant('ws/node_modules/.bin/bwrap')
  plant('ws/bin/bwrap')
  const path = [join(dir, 'ws/node_modules/.bin'), 'relative', '', join(dir, 'ws/bin'), join(dir, 'opt')]
  expect(find(path, [join(dir, 'ws')])).toBe(own)
  expect(find(path.slice(0, 1))).toBeUndefined()
})

it('prefers the system’s own directories to PATH', () => {
  plant('path/bwrap')
  const system = plant('system/bwrap')
  expect(findExecutable('bwrap', { path: join(dir, 'path'), untrusted: [], system: [join(dir, 'system')] })?.path).toBe(
    system,
  )
})

it('refuses a link from outside into the workspace, and one from the workspace to outside', () => {
  plant('ws/bwrap')
  mkdirSync(join(dir, 'opt'))
  symlinkSync(join(dir, 'ws/bwrap'), join(dir, 'opt/bwrap'))
  symlinkSync('/bin/sh', join(dir, 'ws/sh'))
  expect(find([join(dir, 'opt')], [join(dir, 'ws')])).toBeUndefined()
  expect(trusted(join(dir, 'ws/sh'), [join(dir, 'ws')])).toBeUndefined()
})

it('refuses a file or directory that others can write, and what is no program', () => {
  plant('a/bwrap', 0o777)
  plant('b/bwrap', 0o644)
  plant('c/bwrap')
  chmodSync(join(dir, 'c'), 0o777)
  mkdirSync(join(dir, 'd/bwrap'), { recursive: true })
  expect(find(['a', 'b', 'c', 'd'].map((name) => join(dir, name)))).toBeUndefined()
})

it('tells a replaced file from the one before', () => {
  const file = plant('opt/bwrap')
  const before = trusted(file, [])?.identity
  expect(trusted(file, [])?.identity).toBe(before)
  copyFileSync('/bin/true', join(dir, 'new'))
  rmSync(file)
  copyFileSync(join(dir, 'new'), file)
  expect(trusted(file, [])?.identity).not.toBe(before)
})
