import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MarkedOutput } from '../src/marked-output.ts'
import { plainText } from '../src/plain-text.ts'
import { renderCall } from '../src/render.ts'
import type { CallEnd } from '../src/shell-session.ts'
import { clippedEnd, defaultDescription, resetLine, waitingLine } from '../src/words.ts'

const start = '\x1b]133;C;abc\x07'
const end = (code: number) => `\x1b]133;D;abc;${code}\x07`

describe('the output of one call', () => {
  it('is what stands between its marks, however the terminal cuts it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (step) => {
        const output = new MarkedOutput('abc', 1000)
        const all = `late output of the last call${start}a \x1b[31mred\x1b[0m\nb${end(3)}more`
        for (let at = 0; at < all.length; at += step) output.push(all.slice(at, at + step))
        expect(output.exitCode).toBe(3)
        expect(output.read()).toEqual({ text: 'a \x1b[31mred\x1b[0m\nb', clipped: false })
      }),
      { seed: 3, numRuns: 60 },
    )
  })

  it('ignores the marks of other calls', () => {
    const output = new MarkedOutput('abc', 1000)
    output.push(`\x1b]133;D;ffff;0\x07${start}x\x1b]133;D;ffff;0\x07y`)
    expect(output.exitCode).toBeUndefined()
    expect(output.read().text).toContain('x')
  })

  it('keeps the head and knows that there was more', () => {
    const output = new MarkedOutput('abc', 10)
    output.push(`${start}${'x'.repeat(5000)}`)
    output.push(`${'y'.repeat(5000)}${end(0)}`)
    expect(output.read()).toEqual({ text: 'x'.repeat(10), clipped: true })
    expect(output.exitCode).toBe(0)
  })

  it('ends with the last words of a shell that exits', () => {
    const output = new MarkedOutput('abc', 100)
    output.push(`${start}bye\n\x1b]133;X;abc;4\x07`)
    expect([output.leaving, output.exitCode, output.read().text]).toEqual([4, undefined, 'bye\n'])
  })

  it('can be read in parts', () => {
    const output = new MarkedOutput('abc', 100)
    output.push(`${start}name? `)
    expect(output.take().text).toBe('name? ')
    output.push(`hello bob\n${end(0)}`)
    expect(output.take().text).toBe('hello bob\n')
  })
})

describe('terminal output as text', () => {
  it.each([
    ['colours', '\x1b[1;31merror\x1b[0m: no', 'error: no'],
    ['a title', '\x1b]0;title\x07text', 'text'],
    ['CR LF', 'a\r\nb\r\r\nc', 'a\nb\nc'],
    ['a redrawn line', '10%\r 50%\r100%\n', '100%\n'],
    ['a shorter redraw', 'abcdef\rxy\n', 'xycdef\n'],
    ['a backspace', 'abx\bc', 'abc'],
    ['a bell', 'a\x07b', 'ab'],
    ['characters outside the BMP', '😀\rx', 'x'],
  ])('drops %s', (_name, raw, text) => {
    expect(plainText(raw)).toBe(text)
  })
})

describe('a rendered call', () => {
  const render = (text: string, how: CallEnd, more: object = {}) =>
    renderCall({ text, clipped: false, end: how }, { maxOutputChars: 20, timeoutMs: 300_000, ...more })

  it.each<[string, string]>([
    [render('hi\n', { kind: 'done', exitCode: 0 }), 'hi\n'],
    [render('', { kind: 'done', exitCode: 0 }), '(no output)'],
    [render('', { kind: 'done', exitCode: 2 }), '[exit code: 2]'],
    [render('x', { kind: 'done', exitCode: 2 }), 'x\n[exit code: 2]'],
    [render('name? ', { kind: 'asks' }), `name? \n${waitingLine}`],
    [render('bye\n', { kind: 'exited', exitCode: 4 }), `bye\n[shell exited: code 4]\n${resetLine}`],
    [render('', { kind: 'exited', signal: 'SIGKILL' }), `[shell killed by signal: SIGKILL]\n${resetLine}`],
    [render('', { kind: 'exited' }), `[shell exited]\n${resetLine}`],
    [
      render('part\n', { kind: 'timeout' }),
      `Your command timed out after 300 seconds or experienced an OOM error. Below is partial output:\npart\n${resetLine}`,
    ],
    [render('a'.repeat(30), { kind: 'done', exitCode: 0 }), `${'a'.repeat(20)}${clippedEnd}`],
    [
      render('x\n', { kind: 'done', exitCode: 0 }, { restarted: 'the mode changed' }),
      '[the mode changed: this is a fresh shell in the workspace]\nx\n',
    ],
  ])('reads %j', (got, want) => {
    expect(got).toBe(want)
  })

  it('never splits a character when it clips', () => {
    expect(render('😀'.repeat(20), { kind: 'done', exitCode: 0 }, { maxOutputChars: 5 })).toBe(`😀😀${clippedEnd}`)
  })

  it('has a default description of 153 characters', () => {
    expect(defaultDescription).toHaveLength(153)
  })
})
