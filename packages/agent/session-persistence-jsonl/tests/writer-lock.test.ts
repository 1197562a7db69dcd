import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockHolder, takeLock } from '../src/writer-lock.ts'
import { host, playTurn, temporaryRoot } from './scene.ts'

const lockIn = (dir: string, holder: object) => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'session.lock'), JSON.stringify(holder))
}

describe('the writer lock', () => {
  it('refuses a second writer by naming the first', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.store.flush(session)
    const other = await host(root)
    await expect(other.store.resume('s')).rejects.toMatchObject({
      code: 'SESSION_LOCKED',
      message: 'session "s" is already open in this process',
    })
    await expect(other.store.delete('s')).rejects.toMatchObject({ code: 'SESSION_LOCKED' })
    await h.dispose()
    await other.store.resume('s')
    await other.dispose()
  })

  it('names a live process, and takes over from one that died', async () => {
    const dir = join(temporaryRoot(), 'x')
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await once(child, 'spawn')
    lockIn(dir, { pid: child.pid, host: hostname(), since: 0 })
    expect(() => takeLock(dir, 's')).toThrow(
      `session "s" is in use by another process (pid ${child.pid}, since 1970-01-01T00:00:00.000Z)`,
    )
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(lockHolder(dir)).toBeUndefined()
    takeLock(dir, 's').release()
    expect(existsSync(join(dir, 'session.lock'))).toBe(false)
  })

  it.each<[string, object | string]>([
    ['our own pid from an earlier life', { pid: process.pid, host: hostname(), since: 0 }],
    ['a pid that now belongs to another process', { pid: process.ppid, host: hostname(), startedAt: '1', since: 0 }],
    ['a torn lock file', 'garbage'],
  ])('takes over from %s', (_what, holder) => {
    const dir = join(temporaryRoot(), 'x')
    lockIn(dir, {})
    writeFileSync(join(dir, 'session.lock'), typeof holder === 'string' ? holder : JSON.stringify(holder))
    takeLock(dir, 's').release()
  })

  it('never takes over from another host, and says how to', () => {
    const dir = join(temporaryRoot(), 'x')
    lockIn(dir, { pid: 1, host: 'elsewhere.invalid', since: 0 })
    expect(() => takeLock(dir, 's')).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('on host elsewhere.invalid'),
        hint: expect.stringContaining(join(dir, 'session.lock')),
      }),
    )
  })

  it('releases only its own lock', () => {
    const dir = join(temporaryRoot(), 'x')
    const lock = takeLock(dir, 's')
    lockIn(dir, { pid: 1, host: 'elsewhere.invalid', since: 0 })
    lock.release()
    expect(readFileSync(join(dir, 'session.lock'), 'utf8')).toContain('elsewhere')
    expect(dirname(dir)).toBeTruthy()
  })
})
