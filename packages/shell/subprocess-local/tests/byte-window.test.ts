import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteWindow } from '../src/byte-window.ts'

describe('the byte window', () => {
  it('holds exactly the last bytes of any stream, however it is chunked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 64 }),
        (chunks, max) => {
          const window = new ByteWindow(max)
          for (const chunk of chunks) window.push(chunk)
          const all = Buffer.concat(chunks)
          expect(window.total).toBe(all.length)
          expect(window.truncated).toBe(all.length > max)
          expect(window.bytes()).toEqual(all.subarray(Math.max(0, all.length - max)))
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  it('holds exactly the first bytes when asked to keep the head', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 64 }),
        (chunks, max) => {
          const window = new ByteWindow(max, 'head')
          for (const chunk of chunks) window.push(chunk)
          expect(window.bytes()).toEqual(Buffer.concat(chunks).subarray(0, max))
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  it('gives a reader every byte once, in whole code points, however reads and writes interleave', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (text, step) => {
        const window = new ByteWindow(1024)
        const bytes = Buffer.from(text)
        let seen = ''
        for (let at = 0; at < bytes.length; at += step) {
          window.push(bytes.subarray(at, at + step))
          seen += window.read(false).text
        }
        seen += window.read(true).text
        expect(seen).toBe(bytes.toString('utf8'))
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  it('never cuts inside a character, at either end', () => {
    for (const max of [5, 6, 7, 8]) {
      const tail = new ByteWindow(max)
      const head = new ByteWindow(max, 'head')
      for (const window of [tail, head]) window.push(Buffer.from('😀😀😀'))
      expect(tail.text()).not.toContain('\ufffd')
      expect(head.text()).not.toContain('\ufffd')
      expect(tail.text().length).toBeGreaterThan(0)
    }
  })

  it('says when a reader came too late', () => {
    const window = new ByteWindow(4)
    window.push(Buffer.from('abcdefgh'))
    expect(window.read(false)).toEqual({ text: 'efgh', dropped: true })
    window.push(Buffer.from('ij'))
    expect(window.read(false)).toEqual({ text: 'ij', dropped: false })
  })
})
