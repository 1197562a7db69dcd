import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { gitDirsOf } from '../src/git-dirs.ts'

let dir: string
const git = (cwd: string, ...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'protocol.file.allow=always', ...args],
    { cwd, stdio: 'pipe' },
  )

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-git-')))
  mkdirSync(join(dir, 'main'))
  git(join(dir, 'main'), 'init', '-q')
  git(join(dir, 'main'), 'commit', '-q', '--allow-empty', '-m', 'one')
})
afterEach(() => rmSync(dir, { recursive: true }))

it('an ordinary repository needs nothing outside', () => {
  expect(gitDirsOf(join(dir, 'main'))).toBeUndefined()
  expect(gitDirsOf(join(dir, 'absent'))).toBeUndefined()
})

it('a linked worktree writes to the repository it belongs to, but not to its hooks and configuration', () => {
  git(join(dir, 'main'), 'worktree', 'add', '-q', '../linked')
  const found = gitDirsOf(join(dir, 'linked'))
  expect(found?.writable).toEqual([join(dir, 'main/.git')])
  expect(found?.protected).toEqual([join(dir, 'main/.git/hooks'), join(dir, 'main/.git/config')])
})

it('a submodule writes to its own directory below the superproject', () => {
  mkdirSync(join(dir, 'super'))
  git(join(dir, 'super'), 'init', '-q')
  git(join(dir, 'super'), 'submodule', '--quiet', 'add', join(dir, 'main'), 'sub')
  const own = join(dir, 'super/.git/modules/sub')
  expect(gitDirsOf(join(dir, 'super/sub'))).toEqual({
    writable: [own],
    protected: [join(own, 'hooks'), join(own, 'config')],
  })
})

it('a `.git` file that names a directory of somebody else gives no access to it', () => {
  const work = join(dir, 'work')
  mkdirSync(work)
  git(join(dir, 'main'), 'worktree', 'add', '-q', '../linked')
  for (const target of [join(dir, 'main/.git'), join(dir, 'main/.git/worktrees/linked'), '/etc', 'nowhere']) {
    writeFileSync(join(work, '.git'), `gitdir: ${target}\n`)
    expect(gitDirsOf(work), target).toBeUndefined()
  }
})

it('a forged worktree record cannot name another directory as the repository', () => {
  const work = join(dir, 'work')
  mkdirSync(join(work, 'fake/worktrees/x'), { recursive: true })
  writeFileSync(join(work, '.git'), 'gitdir: fake/worktrees/x\n')
  writeFileSync(join(work, 'fake/worktrees/x/gitdir'), `${work}/.git\n`)
  writeFileSync(join(work, 'fake/worktrees/x/commondir'), `${dir}/main/.git\n`)
  expect(gitDirsOf(work)).toBeUndefined()
  symlinkSync(join(dir, 'main/.git/objects'), join(work, 'fake/objects'))
  symlinkSync(join(dir, 'main/.git/refs'), join(work, 'fake/refs'))
  writeFileSync(join(work, 'fake/HEAD'), '')
  expect(gitDirsOf(work)?.writable).toEqual([join(work, 'fake')])
})
