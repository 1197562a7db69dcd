import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { accessAt, areasOf, isWithin, type SandboxPolicy, tempRoots } from '../src/index.ts'

const policy: SandboxPolicy = {
  mode: 'workspace-write',
  workspaceRoot: '/home/u/w',
  writableRoots: ['/var/cache/x'],
  protectedPaths: ['/home/u/w/.git/hooks', '/home/u/w/home'],
  hiddenPaths: ['/home/u/w/home/.credentials.yaml'],
}
const at = (path: string, given = policy) => accessAt(areasOf(given, ['/tmp']), path)

it('the deepest area that holds a path decides', () => {
  expect(at('/etc/passwd')).toBe('read')
  expect(at('/home/u/w')).toBe('write')
  expect(at('/home/u/w2/a')).toBe('read')
  expect(at('/tmp/a')).toBe('write')
  expect(at('/var/cache/x/y')).toBe('write')
  expect(at('/home/u/w/.git/config')).toBe('write')
  expect(at('/home/u/w/.git/hooks/pre-commit')).toBe('read')
  expect(at('/home/u/w/home/settings')).toBe('read')
  expect(at('/home/u/w/home/.credentials.yaml')).toBe('none')
})

it('a workspace below a protected directory stays writable', () => {
  expect(at('/home/u/.dsh/w/a', { ...policy, workspaceRoot: '/home/u/.dsh/w', protectedPaths: ['/home/u/.dsh'] })).toBe(
    'write',
  )
})

it('read-only writes nowhere, full access is not confined', () => {
  for (const path of ['/home/u/w/a', '/tmp/a', '/var/cache/x/y'])
    expect(at(path, { ...policy, mode: 'read-only' })).toBe('read')
  expect(areasOf({ ...policy, mode: 'danger-full-access' })).toEqual([])
})

it('a workspace that is the whole file system is writable as a whole', () => {
  expect(at('/etc/passwd', { mode: 'workspace-write', workspaceRoot: '/' })).toBe('write')
  expect(isWithin('/', '/etc')).toBe(true)
})

it('temporary directories are real paths without repeats', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-areas-'))
  try {
    const roots = tempRoots()
    expect(new Set(roots).size).toBe(roots.length)
    expect(roots.map((root) => realpathSync(root))).toEqual(roots)
    expect(roots.some((root) => isWithin(root, realpathSync(dir)))).toBe(true)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
