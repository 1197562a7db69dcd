import * as nodeFs from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { FsService } from '@dsh/fs'
import { createLocalFs } from '@dsh/fs-local'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fenced } from '../src/fence.ts'
import { policiesOf } from './policies.ts'

// The temporary directories are writable, so the workspace and its outside lie below the home here.
let top: string
let root: string
let outside: string
let fs: FsService
beforeEach(() => {
  top = nodeFs.realpathSync(nodeFs.mkdtempSync(join(homedir(), '.dsh-fence-test-')))
  root = join(top, 'w')
  outside = join(top, 'out')
  nodeFs.mkdirSync(root)
  nodeFs.mkdirSync(outside)
  nodeFs.writeFileSync(join(outside, 'o.txt'), 'o')
  fs = fenced(createLocalFs(), policiesOf('workspace-write', root))
})
afterEach(() => nodeFs.rmSync(top, { recursive: true, force: true }))

const denied = { code: 'FS_SANDBOX_DENIED' }
const write = async (path: string, service = fs) => service.writeText(await service.resolve(path, { cwd: root }), 'x')

describe('the fence', () => {
  it.each([
    ['an absolute path', () => join(outside, 'n.txt')],
    ['a path that climbs out', () => '../n.txt'],
    ['a sibling that has the root as prefix', () => `${root}2/n.txt`],
    ['the parent of the root', () => '..'],
  ])('denies %s', async (_name, path) => {
    await expect(write(path())).rejects.toMatchObject(denied)
    expect(nodeFs.readdirSync(outside)).toEqual(['o.txt'])
  })

  it('denies links that lead out, for old and new files, and `..` behind them', async () => {
    nodeFs.symlinkSync(outside, join(root, 'esc'))
    nodeFs.symlinkSync(join(outside, 'o.txt'), join(root, 'fl'))
    for (const path of ['esc/n.txt', 'esc/o.txt', 'fl', 'esc/../n.txt'])
      await expect(write(path)).rejects.toMatchObject(denied)
    expect(nodeFs.readFileSync(join(outside, 'o.txt'), 'utf8')).toBe('o')
    expect(nodeFs.existsSync(join(top, 'n.txt'))).toBe(false)
  })

  it('creates nothing through dangling links', async () => {
    nodeFs.symlinkSync(join(outside, 'none'), join(root, 'dfl'))
    nodeFs.symlinkSync(join(top, 'nodir'), join(root, 'ddl'))
    await expect(write('dfl')).rejects.toMatchObject({ code: 'FS_NOT_REGULAR_FILE' })
    await expect(write('ddl/x.txt')).rejects.toThrow(/^cannot write/)
    expect(nodeFs.readdirSync(top).sort()).toEqual(['out', 'w'])
    expect(nodeFs.readdirSync(outside)).toEqual(['o.txt'])
  })

  it('judges the name again at the moment of the write', async () => {
    nodeFs.mkdirSync(join(root, 'd'))
    const target = await fs.resolve('d/f', { cwd: root })
    nodeFs.rmdirSync(join(root, 'd'))
    nodeFs.symlinkSync(outside, join(root, 'd'))
    await expect(fs.writeText(target, 'x')).rejects.toMatchObject(denied)
    expect(nodeFs.existsSync(join(outside, 'f'))).toBe(false)
  })

  it('writes the fresh target when the name has moved inside', async () => {
    nodeFs.symlinkSync(join(outside, 'o.txt'), join(root, 'f'))
    const target = await fs.resolve('f', { cwd: root })
    nodeFs.unlinkSync(join(root, 'f'))
    await fs.writeText(target, 'inside')
    expect(nodeFs.readFileSync(join(root, 'f'), 'utf8')).toBe('inside')
    expect(nodeFs.readFileSync(join(outside, 'o.txt'), 'utf8')).toBe('o')
  })

  it('fences every mutation', async () => {
    const out = await fs.resolve(join(outside, 'o.txt'))
    const inside = await fs.resolve('f', { cwd: root })
    await fs.writeText(inside, 'f')
    await expect(fs.editText(out, { oldString: 'o', newString: 'p', replaceAll: false })).rejects.toMatchObject(denied)
    await expect(fs.patchText(out, [])).rejects.toMatchObject(denied)
    await expect(fs.deleteFile(out)).rejects.toMatchObject(denied)
    await expect(fs.moveFile(out, inside, null)).rejects.toMatchObject(denied)
    await expect(fs.moveFile(inside, out, null)).rejects.toMatchObject(denied)
    expect(nodeFs.readFileSync(join(outside, 'o.txt'), 'utf8')).toBe('o')
  })

  it('denies everything in read-only mode and nothing in full access, for one call as well', async () => {
    const readOnly = fenced(createLocalFs(), policiesOf('read-only', root))
    await expect(write('a', readOnly)).rejects.toMatchObject({
      ...denied,
      message: `cannot write "${join(root, 'a')}": file access denied under read-only mode`,
    })
    await expect(write('/tmp/dsh-fence-test', readOnly)).rejects.toMatchObject(denied)
    const target = await fs.resolve(join(outside, 'n.txt'))
    await fs.writeText(target, 'x', undefined, undefined, { mode: 'danger-full-access', workspaceRoot: root })
    expect(nodeFs.readFileSync(join(outside, 'n.txt'), 'utf8')).toBe('x')
    expect(readOnly.sandboxMode).toBe('read-only')
  })

  it('does not follow a root that was renamed away and replaced by a link', async () => {
    const far = join(outside, 'w')
    nodeFs.mkdirSync(far)
    nodeFs.mkdirSync(join(top, 'p/w'), { recursive: true })
    const moved = fenced(createLocalFs(), policiesOf('workspace-write', join(top, 'p/w')))
    nodeFs.renameSync(join(top, 'p'), join(top, 'q'))
    nodeFs.symlinkSync(outside, join(top, 'p'))
    const target = await moved.resolve('n.txt', { cwd: join(top, 'p/w') })
    await expect(moved.writeText(target, 'x')).rejects.toMatchObject(denied)
    expect(nodeFs.readdirSync(far)).toEqual([])
  })

  it('lets reads pass everywhere but where the policy hides', async () => {
    const hiding = fenced(createLocalFs(), policiesOf('workspace-write', root, { hiddenPaths: [outside] }))
    const target = await hiding.resolve(join(outside, 'o.txt'))
    expect(await fs.readText(target)).toBe('o')
    await expect(hiding.readText(target)).rejects.toMatchObject({
      code: 'FS_PERMISSION_DENIED',
      message: `cannot read "${join(outside, 'o.txt')}": permission denied`,
    })
    await expect(hiding.readBytes(target, undefined, 10)).rejects.toMatchObject({ code: 'FS_PERMISSION_DENIED' })
    await expect(hiding.listDir(await hiding.resolve(outside))).rejects.toMatchObject({ code: 'FS_PERMISSION_DENIED' })
  })

  it('keeps protected paths inside the root as they are', async () => {
    nodeFs.mkdirSync(join(root, '.git/hooks'), { recursive: true })
    const protecting = fenced(
      createLocalFs(),
      policiesOf('workspace-write', root, { protectedPaths: [join(root, '.git/hooks')] }),
    )
    await expect(write('.git/hooks/pre-commit', protecting)).rejects.toMatchObject(denied)
    await write('.git/description', protecting)
    expect(nodeFs.readdirSync(join(root, '.git/hooks'))).toEqual([])
  })
})
