import { applyChunks, type FsPatchChunk } from '@dsh/fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splice } from '../src/splice.ts'
import { decodeText, encodeText, splitBom } from '../src/text.ts'

const numRuns = process.env['DSH_LONG'] === undefined ? 150 : 4000
const options = { seed: 20_26, numRuns }

/** Characters that break editors: endings, marks, separators, astral and combining ones. */
const piece = fc.constantFrom(
  'a',
  'b',
  'ab',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  'é',
  'e\u0301',
  '漢',
  '😀',
  '👩‍💻',
  '\u2028',
  '\u2029',
  '\u0085',
  '\uFEFF',
  '$&',
  '$1',
  '\0'.repeat(0),
)
const text = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(''))
const anything = fc.oneof(text, fc.string({ unit: 'grapheme', maxLength: 30 }))
const lf = (value: string) => value.replaceAll('\r\n', '\n')

/** A file and a needle that is a piece of it. */
const fileAndNeedle = fc
  .tuple(text, fc.nat(), fc.nat())
  .map(([file, a, b]) => {
    const points = [...file]
    const [from, to] = [a % (points.length + 1), b % (points.length + 1)].sort((x, y) => x - y) as [number, number]
    return { file, needle: points.slice(from, to).join('') }
  })
  .filter(({ needle }) => needle !== '')

describe('an edit', () => {
  it('keeps every byte outside the replaced span', () => {
    fc.assert(
      fc.property(fileAndNeedle, anything, ({ file, needle }, replacement) => {
        const result = splice(file, { oldString: needle, newString: replacement, replaceAll: false })
        if (result.text === undefined) return
        const [before, after] = aroundOnly(file, needle)
        expect(result.text.startsWith(before)).toBe(true)
        expect(result.text.endsWith(after)).toBe(true)
        const middle = result.text.slice(before.length, result.text.length - after.length)
        expect(lf2(middle, file, replacement)).toBe(lf2(lf(replacement), file, replacement))
      }),
      options,
    )
  })

  it('with replace_all equals split and join, in any ending', () => {
    fc.assert(
      fc.property(fileAndNeedle, anything, ({ file, needle }, replacement) => {
        const result = splice(file, { oldString: needle, newString: replacement, replaceAll: true })
        const parts = lf(file).split(lf(needle))
        expect(result.count).toBe(parts.length - 1)
        if (result.text !== undefined)
          expect(lf2(result.text, file, replacement)).toBe(lf2(parts.join(lf(replacement)), file, replacement))
      }),
      options,
    )
  })

  it('undone with the old text gives the file back, in a file of one ending', () => {
    fc.assert(
      fc.property(fileAndNeedle, anything, fc.boolean(), ({ file, needle }, replacement, crlf) => {
        const uniform = (value: string) => (crlf ? lf(value).replaceAll('\n', '\r\n') : lf(value))
        const plain = uniform(file.replaceAll('\r', ''))
        const old = needle.replaceAll('\r', '')
        const fresh = `⟦${replacement.replaceAll('\r', '')}⟧`
        if (old === '') return
        const there = splice(plain, { oldString: old, newString: fresh, replaceAll: false })
        if (there.text === undefined) return
        // With its last line ending gone, a file no longer says which one it had; `/undo` keeps the bytes.
        if (!there.text.includes('\n')) return
        const back = splice(there.text, { oldString: fresh, newString: old, replaceAll: false })
        expect(back.text).toBe(plain)
      }),
      options,
    )
  })

  it('finds nothing where a needle would cut a character, and writes what UTF-8 can hold', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('\ud83d', '\ude00', 'a\ud83d', '\udc69b'), (file, half) => {
        expect(splice(file, { oldString: half, newString: 'x', replaceAll: true }).count).toBe(0)
      }),
      options,
    )
  })

  it('reads and writes a file back byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (tail, bom) => {
        const bytes = Buffer.concat([bom ? Buffer.from('\uFEFF') : Buffer.alloc(0), Buffer.from(tail)])
        let decoded: ReturnType<typeof decodeText>
        try {
          decoded = decodeText(bytes, 'edit', 'f', 'anywhere')
        } catch {
          return
        }
        expect(encodeText(decoded.text, decoded.bom).equals(bytes)).toBe(true)
      }),
      options,
    )
  })
})

describe('a patch of one hunk', () => {
  const line = fc
    .array(
      piece.filter((one) => !/[\r\n]/.test(one)),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(''))
  const ending = fc.constantFrom('\n', '\r\n')
  const lines = fc.array(fc.tuple(line, ending), { minLength: 1, maxLength: 12 })

  it('keeps every byte of the lines it does not change', () => {
    fc.assert(
      fc.property(lines, fc.nat(), fc.array(line, { maxLength: 3 }), (rows, at, added) => {
        const index = at % rows.length
        const file = rows.map(([content, eol]) => content + eol).join('')
        const { text: raw } = splitBom(file)
        const own = raw.split('\n').map((row) => row.replace(/\r$/, ''))
        const chunk: FsPatchChunk = {
          contexts: [],
          endOfFile: false,
          lines: [
            ...own.slice(0, index).map((content) => ({ kind: 'context' as const, text: content })),
            { kind: 'remove' as const, text: own[index] as string },
            ...added.map((content) => ({ kind: 'add' as const, text: content })),
          ],
        }
        const result = applyChunks(raw, [chunk], 'f')
        const starts = rows.map((_, row) =>
          rows.slice(0, row).reduce((sum, [content, eol]) => sum + content.length + eol.length, 0),
        )
        const shift = file.length - raw.length
        const before = raw.slice(0, Math.max((starts[index] as number) - shift, 0))
        const end = (starts[index] as number) + (rows[index]?.[0].length ?? 0) + (rows[index]?.[1].length ?? 0) - shift
        expect(result.startsWith(before)).toBe(true)
        expect(result.endsWith(raw.slice(end))).toBe(true)
        const middle = result.slice(before.length, result.length - (raw.length - end))
        expect(lf(middle)).toBe(added.map((content) => `${content}\n`).join(''))
      }),
      options,
    )
  })

  it('undone gives the file back, in a file of one ending', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), ending, fc.nat(), (own, eol, at) => {
        const { text: file } = splitBom(own.map((content) => content + eol).join(''))
        const rows = file.split(eol).slice(0, -1)
        const index = at % rows.length
        const context = rows.slice(0, index).map((content) => ({ kind: 'context' as const, text: content }))
        const swap = (from: string, to: string): FsPatchChunk => ({
          contexts: [],
          endOfFile: false,
          lines: [...context, { kind: 'remove', text: from }, { kind: 'add', text: to }],
        })
        const there = applyChunks(file, [swap(rows[index] as string, '⟦new⟧')], 'f')
        expect(applyChunks(there, [swap('⟦new⟧', rows[index] as string)], 'f')).toBe(file)
      }),
      options,
    )
  })
})

/** The text before and after the only occurrence, in the file's own bytes. */
function aroundOnly(file: string, needle: string): readonly [string, string] {
  const normal = lf(file)
  const start = normal.indexOf(lf(needle))
  return [rawPrefix(file, start), rawSuffix(file, normal.length - start - lf(needle).length)]
}

function rawPrefix(file: string, units: number): string {
  let at = 0
  for (let seen = 0; seen < units; seen++) at += file.startsWith('\r\n', at) ? 2 : 1
  return file.slice(0, at)
}

function rawSuffix(file: string, units: number): string {
  let at = file.length
  for (let seen = 0; seen < units; seen++) at -= at >= 2 && file.startsWith('\r\n', at - 2) ? 2 : 1
  return file.slice(at)
}

/** A lone CR before an inserted LF reads as one ending: such files are compared without either. */
function lf2(value: string, file: string, replacement: string): string {
  return /\r(?!\n)/.test(file + replacement) ? value.replaceAll('\r', '') : lf(value)
}
