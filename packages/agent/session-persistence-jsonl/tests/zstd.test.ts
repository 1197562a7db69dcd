import { spawnSync } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifyLog } from '../src/index.ts'
import { xxh64Low } from '../src/xxh64.ts'
import { canWriteZstd, decompressLog, frameBounds } from '../src/zstd.ts'
import { host, linesOf, playTurn, temporaryRoot } from './scene.ts'

const hasTool = spawnSync('zstd', ['--version']).status === 0
const frame = (text: string) => spawnSync('zstd', ['-qc', '--check'], { input: text }).stdout

describe.skipIf(!hasTool)('compressed logs', () => {
  async function compressed() {
    const root = temporaryRoot()
    const h = await host(root)
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.sessions.dispose('s')
    const raw = (await h.store.locate('s')) as string
    const lines = linesOf(raw).map((line) => `${line}\n`)
    const path = join(dirname(raw), 'session.jsonl.zstd')
    writeFileSync(
      path,
      Buffer.concat([frame(lines[0]!), frame(lines.slice(1, 5).join('')), frame(lines.slice(5).join(''))]),
    )
    rmSync(raw)
    return { h, session, path, raw }
  }

  it('are listed, read and resumed beside raw ones', async () => {
    const { h, session, path, raw } = await compressed()
    expect((await h.store.list())[0]).toMatchObject({ path, prompt: 'prompt 1' })
    expect((await h.store.inspect('s')).events).toEqual([...session.events])
    const again = await h.store.resume('s')
    expect(again.deriveMessages()).toEqual(session.deriveMessages())
    playTurn(again, 2)
    await h.sessions.dispose('s')
    expect((await h.store.inspect('s')).events.length).toBe(again.events.length)
    expect(existsSync(raw) || existsSync(path)).toBe(true)
    await h.dispose()
  })

  it('give what a torn last frame still holds', async () => {
    const { h, session, path } = await compressed()
    truncateSync(path, statSync(path).size - 5)
    const { goodBytes } = frameBounds(readFileSync(path))
    expect(goodBytes).toBeLessThan(statSync(path).size)
    const found = await h.store.inspect('s')
    expect(found.events.length).toBeGreaterThanOrEqual(4)
    expect(found.events).toEqual(session.events.slice(0, found.events.length))
    const again = await h.store.resume('s')
    expect(again.openTurn).toBeUndefined()
    await h.dispose()
  })

  it('of which a whole frame ends in a line that fits nowhere are cut in front of it, and go on', async () => {
    const { h, path } = await compressed()
    const told: string[] = []
    h.ctx.logger.exporter({ export: (message) => void told.push(message.args.join(' ')) })
    const fits = '{"type":"turn/start","seq":13,"time":1,"data":{"turn":2}}\n'
    const misfit = '{"type":"step/start","seq":40,"time":1,"data":{"turn":2,"step":1}}\n'
    writeFileSync(path, Buffer.concat([readFileSync(path), frame(fits + misfit)]))
    const session = await h.store.resume('s')
    expect(session.events[13]?.type).toBe('turn/start')
    expect(told).toEqual([expect.stringContaining('(its seq is 40, expected 14) and was cut off')])
    const kept = readdirSync(dirname(path)).find((name) => name.startsWith('torn-'))
    expect(readFileSync(join(dirname(path), kept as string), 'utf8')).toBe(misfit)
    playTurn(session, 3)
    await h.sessions.dispose('s')
    const stored = await h.store.inspect('s')
    expect(stored.problem).toBeUndefined()
    expect(stored.events.length).toBe(session.events.length)
    await h.dispose()
  })

  it('are held against their checksums', async () => {
    const { h, path } = await compressed()
    const bytes = readFileSync(path)
    const { frames } = frameBounds(bytes)
    const at = (frames.at(-1)?.end as number) - 2
    bytes[at] = (bytes[at] as number) ^ 0x01
    writeFileSync(path, bytes)
    await expect(h.store.resume('s')).rejects.toThrow(
      `corrupt Zstandard session log: frame at byte ${frames.at(-1)?.start} failed validation`,
    )
    await h.dispose()
  })

  it.each([0, 1, 3, 4, 5, 8, 12, 31, 32, 33, 63, 64, 100, 1000, 100_000])(
    'of %i bytes have the checksum that zstd writes',
    (length) => {
      const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 31 + 7) & 0xff))
      const compressedBytes = spawnSync('zstd', ['-qc', '--check'], { input: bytes, maxBuffer: 1 << 26 }).stdout
      expect(xxh64Low(bytes)).toBe(compressedBytes.readUInt32LE(compressedBytes.length - 4))
    },
  )

  it('are refused by name when they are no such thing', async () => {
    await expect(decompressLog(Buffer.from('hello world'))).rejects.toThrow('invalid frame magic at byte 0')
    await expect(decompressLog(Buffer.alloc(0))).rejects.toThrow('empty or header-less Zstandard session log')
    await expect(decompressLog(Buffer.concat([frame('{}\n'), Buffer.from('junk')]))).rejects.toThrow(
      'invalid frame magic at byte',
    )
    await expect(decompressLog(frame('{}\n{}\n'))).rejects.toThrow('first frame is not exactly one header line')
    await expect(decompressLog(Buffer.concat([frame('{}\n'), frame('{"a":')]))).rejects.toThrow(
      'complete frame contains a torn JSONL record',
    )
    expect(renameSync).toBeTypeOf('function')
  })
})

describe.skipIf(!canWriteZstd())('where the runtime can compress', () => {
  it('logs are written as frames: the header, then one per batch', async () => {
    const root = temporaryRoot()
    const h = await host(root, { compression: 'zstd' })
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.store.flush(session)
    playTurn(session, 2)
    await h.store.flush(session)
    const path = (await h.store.locate('s')) as string
    expect(path.endsWith('session.jsonl.zstd')).toBe(true)
    const bytes = readFileSync(path)
    expect(frameBounds(bytes).frames.length).toBe(3)
    await h.sessions.dispose('s')
    const again = await h.store.resume('s')
    playTurn(again, 3)
    await h.sessions.dispose('s')
    expect((await verifyLog(root, 's')).problems).toEqual([])
    expect((await h.store.inspect('s')).events.length).toBe(again.events.length)
    await h.dispose()
  })
})

describe.skipIf(canWriteZstd())('where the runtime cannot compress', () => {
  it('a row that is told to compress does not start', async () => {
    await expect(host(temporaryRoot(), { compression: 'zstd' })).rejects.toThrow('needs Node 22.15 or newer')
  })
})
