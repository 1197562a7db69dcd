import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AppendFile } from '../src/durable-file.ts'
import { takeLock } from '../src/writer-lock.ts'
import { host, linesOf, playTurn, temporaryRoot } from './scene.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function failing(code: string): Error {
  return Object.assign(new Error(code), { code })
}

describe('on a file system without hard links', () => {
  it('a log is still published whole, and still overwrites nothing', async () => {
    const path = join(temporaryRoot(), 'log')
    vi.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw failing('EPERM')
    })
    const file = await AppendFile.create(path, Buffer.from('one\n'))
    file.append(Buffer.from('two\n'))
    await file.sync()
    file.close()
    expect(fs.readFileSync(path, 'utf8')).toBe('one\ntwo\n')
    await expect(AppendFile.create(path, Buffer.from('other\n'))).rejects.toMatchObject({ code: 'EEXIST' })
    expect(fs.readFileSync(path, 'utf8')).toBe('one\ntwo\n')
    expect(fs.readdirSync(join(path, '..'))).toEqual(['log'])
  })

  it('a lock is still exclusive', () => {
    const dir = temporaryRoot()
    vi.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw failing('ENOTSUP')
    })
    const lock = takeLock(dir, 's')
    expect(() => takeLock(dir, 's')).toThrow('already open in this process')
    lock.release()
    takeLock(dir, 's').release()
  })
})

describe('a batch that cannot be written', () => {
  it('leaves the file as it was, and the next one follows what was there', async () => {
    const path = join(temporaryRoot(), 'log')
    const file = await AppendFile.create(path, Buffer.from('one\n'))
    const write = fs.writeSync
    let calls = 0
    vi.spyOn(fs, 'writeSync').mockImplementation(((fd: number, bytes: Uint8Array, offset: number) => {
      if (++calls === 1) return write(fd, bytes, offset, 2)
      throw failing('ENOSPC')
    }) as never)
    expect(() => file.append(Buffer.from('two\n'))).toThrow('ENOSPC')
    vi.restoreAllMocks()
    expect(fs.readFileSync(path, 'utf8')).toBe('one\n')
    file.append(Buffer.from('three\n'))
    await file.sync()
    expect(fs.readFileSync(path, 'utf8')).toBe('one\nthree\n')
    file.close()
  })

  it('and cannot be taken back is said so, and is taken back before the next one', async () => {
    const path = join(temporaryRoot(), 'log')
    const file = await AppendFile.create(path, Buffer.from('one\n'))
    const write = fs.writeSync
    let calls = 0
    vi.spyOn(fs, 'writeSync').mockImplementation(((fd: number, bytes: Uint8Array, offset: number) => {
      if (++calls === 1) return write(fd, bytes, offset, 2)
      throw failing('EIO')
    }) as never)
    vi.spyOn(fs, 'ftruncateSync').mockImplementation(() => {
      throw failing('EIO')
    })
    expect(() => file.append(Buffer.from('two\n'))).toThrow(`failed to roll back append to "${path}"`)
    vi.restoreAllMocks()
    expect(fs.readFileSync(path, 'utf8')).toBe('one\ntw')
    file.append(Buffer.from('three\n'))
    expect(fs.readFileSync(path, 'utf8')).toBe('one\nthree\n')
    file.close()
  })
})

describe('a store that fails for a while', () => {
  it('keeps the events, says so, and writes them when it can', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 5 })
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.store.flush(session)
    const broken = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw failing('EIO')
    })
    playTurn(session, 2)
    await expect(h.store.flush(session)).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED' })
    broken.mockRestore()
    await h.store.flush(session)
    const path = (await h.store.locate('s')) as string
    expect(linesOf(path).length).toBeGreaterThan(20)
    expect((await h.store.inspect('s')).events.length).toBe(session.events.length)
    await h.dispose()
  })

  it('flushes that overlap share one write', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 60_000 })
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.store.flush(session)
    const writes = vi.spyOn(fs, 'writeSync')
    playTurn(session, 2)
    await Promise.all(Array.from({ length: 10 }, () => h.store.flush(session)))
    expect(writes.mock.calls.length).toBe(1)
    await h.dispose()
  })
})
