import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerpt } from '../src/excerpt.ts'

const notice = (omitted: number) => `(Omitted ${omitted} bytes. At: /p.)`

describe('an excerpt', () => {
  it('joins head and tail without a seam and says exactly what is missing', () => {
    const text = 'a'.repeat(500) + 'b'.repeat(500)
    const cut = excerpt(text, 200, notice) as string
    const [body = '', said = ''] = cut.split('\n\n')
    expect(body).toMatch(/^a+b+$/)
    expect(said).toBe(notice(1000 - body.length))
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(200)
    expect(Buffer.byteLength(cut)).toBeGreaterThan(195)
  })

  it('never exceeds its size, and never splits a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
        fc.integer({ min: 40, max: 99 }),
        (text, max) => {
          const cut = excerpt(text, max, notice)
          if (cut === undefined) return
          expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
          expect(cut.includes('\ufffd')).toBe(text.includes('\ufffd') && cut.includes('\ufffd'))
        },
      ),
      { seed: 5, numRuns: 200 },
    )
  })

  it.each([
    '[exit code: 1]',
    '[killed by signal: SIGKILL]',
    '[timed out after 300ms]\n[killed by signal: SIGTERM]',
    '[sandbox: file access denied under workspace-write mode]\n[sandbox: escalation available — retry]\n[exit code: 1]',
    '[status: completed, exit code: 0]',
  ])('keeps %j as the last lines', (markers) => {
    const cut = excerpt(`${'x'.repeat(1000)}\n${markers}`, 400, notice) as string
    expect(cut.endsWith(`)\n${markers}`)).toBe(true)
    expect(cut).toContain('(Omitted ')
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(400)
  })

  it('does not take ordinary text in brackets for a marker', () => {
    const cut = excerpt(`${'x'.repeat(1000)}\n[section]`, 200, notice) as string
    expect(cut.endsWith('At: /p.)')).toBe(true)
  })

  it('gives up where not even the notice fits', () => {
    expect(excerpt('x'.repeat(1000), 20, notice)).toBeUndefined()
  })
})
