import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalFs } from '@dsh/fs-local'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineWindow, renderRead } from '../src/read-render.ts'

const caps = { readLimit: 2000, readMaxLineLength: 10, readMaxBytes: 40 }
const window = (text: string, offset = 1, limit = 2000, pieces = 1, own = caps) => {
  const made = new LineWindow(offset, limit, own)
  const size = Math.max(1, Math.ceil(text.length / pieces))
  for (let at = 0; at < text.length; at += size) made.push(text.slice(at, at + size))
  made.end()
  return made
}
const rows = (text: string, offset?: number, limit?: number) =>
  window(text, offset, limit).lines.map((line) => line.text)

describe('a read window', () => {
  it.each([
    ['', []],
    ['\n', ['']],
    ['a', ['a']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\rc\r\n', ['a', 'b\rc']],
    ['d\r', ['d']],
    ['x\r\r\n', ['x\r']],
    ['a\u2028b\u0085c', ['a\u2028b\u0085c']],
  ])('breaks %j into %j', (text, lines) => expect(rows(text)).toEqual(lines))

  it('cuts a long line at a character and says so', () => {
    const cut = '... (line truncated to 10 chars)'
    expect(rows('1234567890')).toEqual(['1234567890'])
    expect(rows('1234567890\r\n')).toEqual(['1234567890'])
    expect(rows('12345678901')).toEqual([`1234567890${cut}`])
    expect(rows('123456789😀')).toEqual([`123456789${cut}`])
    expect(rows('1234567890\rmore')).toEqual([`1234567890${cut}`])
  })

  it('shows at least one row, and counts the bytes of the others', () => {
    const tiny = { ...caps, readMaxBytes: 3 }
    expect(window('漢漢漢\nb\n', 1, 2000, 1, tiny).lines.map((line) => line.text)).toEqual(['漢漢漢'])
    expect(window('漢\nb\n', 1, 2000, 1, { ...caps, readMaxBytes: 5 }).lines).toHaveLength(2)
  })

  it('is the same however the text arrives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'bcdefghijkl', '\n', '\r\n', '\r', '😀', ''), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 2, max: 9 }),
        (parts, offset, limit, pieces) => {
          const text = parts.join('')
          const whole = window(text, offset, limit)
          const split = window(text, offset, limit, pieces)
          expect([split.lines, split.totalLines]).toEqual([whole.lines, whole.totalLines])
          const lines = text.split('\n')
          expect(whole.totalLines).toBe(lines.at(-1) === '' ? lines.length - 1 : lines.length)
        },
      ),
      { seed: 3, numRuns: process.env['DSH_LONG'] === undefined ? 200 : 5000 },
    )
  })

  it('names the footer that applies', () => {
    const footer = (text: string, offset: number, limit: number) => {
      const made = window(text, offset, limit)
      const shown = renderRead({ path: '/f', offset, lines: made.lines, totalLines: made.totalLines }, limit)
      return shown.split('\n').at(-2)
    }
    expect(footer('a\nb\nc\n', 1, 2)).toBe('(Showing lines 1-2 of 3. Use offset=3 to continue.)')
    expect(footer('a\nb\nc\n', 2, 2)).toBe('(End of file - total 3 lines)')
    expect(footer('1234567890\n'.repeat(9), 1, 9)).toBe('(Output capped. Showing lines 1-3. Use offset=4 to continue.)')
    expect(footer('', 1, 9)).toBe('(End of file - total 0 lines)')
  })
})

describe.skipIf(process.env['DSH_LONG'] === undefined)('a file of 2 GB', () => {
  it('is paged in flat memory', { timeout: 600_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dsh-large-'))
    try {
      const path = join(dir, 'large.txt')
      const out = createWriteStream(path)
      const block = Buffer.from(`${'x'.repeat(99)}\n`.repeat(10_000))
      for (let written = 0; written < 2 * 1024 ** 3; written += block.length)
        if (!out.write(block)) await once(out, 'drain')
      out.end()
      await once(out, 'close')
      const fs = createLocalFs()
      const target = await fs.resolve(path)
      const base = process.memoryUsage().rss
      let peak = base
      const made = new LineWindow(5_000_000, 10, { readLimit: 2000, readMaxLineLength: 2000, readMaxBytes: 51_200 })
      const started = performance.now()
      for await (const piece of fs.streamText(target)) {
        made.push(piece)
        peak = Math.max(peak, process.memoryUsage.rss())
      }
      made.end()
      console.log(`2 GB in ${Math.round(performance.now() - started)} ms, ${Math.round((peak - base) / 1e6)} MB more`)
      expect(made.lines).toHaveLength(10)
      expect(made.totalLines).toBeGreaterThan(21_000_000)
      expect(peak - base).toBeLessThan(120 * 1024 * 1024)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
