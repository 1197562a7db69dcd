import { spawnSync } from 'node:child_process'
import * as nodeFs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { has } from '@dsh/testkit'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLocalFs } from '../src/index.ts'
import { observedSyscalls, systemError } from './failing-syscalls.ts'
import { isWhole, mutations, prepare } from './mutations.ts'

let top: string
let root: string
let stateDir: string
beforeEach(() => {
  top = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'dsh-faults-')))
  root = join(top, 'w')
  stateDir = join(top, 'state')
  nodeFs.mkdirSync(root)
  prepare(root)
})
afterEach(() => nodeFs.rmSync(top, { recursive: true, force: true }))

const staged = (dir = root) => nodeFs.readdirSync(dir).filter((name) => name.endsWith('.tmpdir'))
const again = () => {
  nodeFs.rmSync(root, { recursive: true, force: true })
  nodeFs.mkdirSync(root)
  prepare(root)
}

describe.each(Object.keys(mutations))('%s, when a system call fails', (kind) => {
  const mutate = mutations[kind] as (typeof mutations)[string]

  it.each(['EIO', 'EACCES', 'ENOSPC'])('with %s leaves old or new, whole, and no staging file', async (code) => {
    let finished = false
    for (let failing = 1; !finished; failing++) {
      expect(failing).toBeLessThan(80)
      again()
      let count = 0
      let failed = ''
      const io = observedSyscalls((name) => {
        if (++count !== failing) return
        failed = name
        throw systemError(code)
      })
      const fs = createLocalFs({ stateDir, io })
      const outcome = await mutate(fs, root).then(
        () => undefined,
        (error: Error) => error,
      )
      finished = failed === ''
      expect(isWhole(root), `${kind} after a failing ${failed}`).toBe(true)
      if (outcome !== undefined) expect(outcome.message, failed).not.toMatch(/staging|tmpdir|made to fail/)
      fs.close()
      expect(staged(), `${kind} after a failing ${failed}`).toEqual([])
    }
    expect(nodeFs.readdirSync(join(stateDir, 'locks'))).toEqual([])
  })
})

describe('a killed process', () => {
  it('leaves old or new, whole, and the next start removes what it staged', { timeout: 120_000 }, () => {
    const child = join(top, 'child.mjs')
    buildSync({
      entryPoints: [fileURLToPath(new URL('./killed-child.ts', import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: child,
      logLevel: 'silent',
    })
    // Every change before every call in the long run; here a few of the longest.
    const [kinds, step] = process.env['DSH_LONG'] === undefined ? [['move'], 4] : [Object.keys(mutations), 1]
    let sawStaging = false
    for (const kind of kinds) {
      for (let at = 1; ; at += step) {
        again()
        const { status, signal, stderr } = spawnSync(process.execPath, [child, kind, root, stateDir, String(at)], {
          encoding: 'utf8',
        })
        expect(stderr).toBe('')
        expect(isWhole(root), `${kind} killed before call ${at}`).toBe(true)
        sawStaging ||= staged().length > 0
        createLocalFs({ stateDir }).close()
        expect(staged(), `${kind} killed before call ${at}`).toEqual([])
        if (signal === null) {
          expect(status).toBe(0)
          break
        }
      }
    }
    expect(sawStaging).toBe(true)
  })

  it('does not keep its lock', async () => {
    const locks = join(stateDir, 'locks')
    const fs = createLocalFs({ stateDir })
    await fs.writeText(await fs.resolve(join(root, 'f')), 'x')
    nodeFs.mkdirSync(locks, { recursive: true })
    const { createHash } = await import('node:crypto')
    const lock = createHash('sha256').update(join(root, 'f')).digest('hex').slice(0, 32)
    const { hostname } = await import('node:os')
    nodeFs.writeFileSync(join(locks, lock), `999999999 1 ${hostname()} gone\n`)
    await fs.writeText(await fs.resolve(join(root, 'f')), 'y')
    expect(nodeFs.readFileSync(join(root, 'f'), 'utf8')).toBe('y')
    fs.close()
  })
})

describe.skipIf(!has('root') || !canMount())('a full disk', () => {
  it('keeps the old file and leaves nothing behind', async () => {
    const disk = join(top, 'disk')
    nodeFs.mkdirSync(disk)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status).toBe(0)
    try {
      nodeFs.writeFileSync(join(disk, 'f'), 'small\n')
      const fs = createLocalFs({ stateDir })
      const target = await fs.resolve(join(disk, 'f'))
      const large = 'x'.repeat(1024 * 1024)
      const message = `cannot write "${join(disk, 'f')}": no space left on device`
      await expect(fs.writeText(target, large)).rejects.toMatchObject({ code: 'FS_IO_ERROR', message })
      await expect(fs.writeText(await fs.resolve(join(disk, 'g')), large, { kind: 'createIfAbsent' })).rejects.toThrow(
        /no space left on device/,
      )
      await expect(
        fs.editText(target, { oldString: 'small', newString: large, replaceAll: false }),
      ).rejects.toMatchObject({ message: `cannot edit "${join(disk, 'f')}": no space left on device` })
      expect(nodeFs.readdirSync(disk)).toEqual(['f'])
      expect(nodeFs.readFileSync(join(disk, 'f'), 'utf8')).toBe('small\n')
    } finally {
      spawnSync('umount', [disk])
    }
  })
})

describe('a home that cannot be written to', () => {
  it('keeps nobody from changing files', async () => {
    nodeFs.writeFileSync(stateDir, 'no directory')
    const fs = createLocalFs({ stateDir })
    await fs.writeText(await fs.resolve(join(root, 'f')), 'x')
    expect(nodeFs.readFileSync(join(root, 'f'), 'utf8')).toBe('x')
    expect(staged()).toEqual([])
    fs.close()
  })
})

describe('without hard links', () => {
  it('still creates, and still never clobbers', async () => {
    const io = observedSyscalls((name) => {
      if (name === 'link') throw systemError('EPERM')
    })
    const fs = createLocalFs({ stateDir, io })
    const made = await fs.writeText(await fs.resolve(join(root, 'n')), 'x', { kind: 'createIfAbsent' })
    expect(made.version).toBe((await fs.stat(await fs.resolve(join(root, 'n'))))?.version)
    expect(nodeFs.readFileSync(join(root, 'n'), 'utf8')).toBe('x')
    let raced = false
    const racing = createLocalFs({
      stateDir,
      io: observedSyscalls((name) => {
        if (name !== 'link' || raced) return
        raced = true
        nodeFs.writeFileSync(join(root, 'late'), 'theirs')
        throw systemError('ENOTSUP')
      }),
    })
    await expect(
      racing.writeText(await racing.resolve(join(root, 'late')), 'mine', { kind: 'createIfAbsent' }),
    ).rejects.toMatchObject({ code: 'FS_NOT_OBSERVED' })
    expect(nodeFs.readFileSync(join(root, 'late'), 'utf8')).toBe('theirs')
    expect(staged()).toEqual([])
  })
})

function canMount(): boolean {
  const probe = nodeFs.mkdtempSync(join(tmpdir(), 'dsh-mount-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe]).status === 0
  if (mounted) spawnSync('umount', [probe])
  nodeFs.rmdirSync(probe)
  return mounted
}
