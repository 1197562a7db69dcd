import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSseParser } from '../src/sse.ts'

const all = (...texts: string[]) => {
  const parser = createSseParser()
  return texts.flatMap((text) => parser.feed(text).map(({ data }) => data))
}

test('an event is dispatched on its blank line, with any line ending', () => {
  expect(all('data: a\n\ndata: b\r\n\r\ndata: c\r\r')).toEqual(['a', 'b', 'c'])
  expect(all('data: a\n')).toEqual([])
})

test('data lines of one event are joined by line feeds, and one leading space is dropped', () => {
  expect(all('data: a\ndata:b\ndata:  c\n\n')).toEqual(['a\nb\n c'])
})

test('comments, unknown fields and events without data give nothing', () => {
  expect(all(': keep-alive\n\nid: 7\nretry: 5\n\nevent: ping\n\ndata: x\n\n')).toEqual(['x'])
})

test('the event field names its own event only', () => {
  const parser = createSseParser()
  expect(parser.feed('event: error\ndata: 1\n\ndata: 2\n\n')).toEqual([
    { event: 'error', data: '1' },
    { event: '', data: '2' },
  ])
})

test('an event that the end cut off is only given when asked for', () => {
  const parser = createSseParser()
  expect(parser.feed('data: [DONE]')).toEqual([])
  expect(parser.end()?.data).toBe('[DONE]')
})

test('where the text is cut between packets makes no difference', () => {
  const source = ': c\r\ndata: one\r\ndata: two\r\n\r\n\ndata: three\n\ndata: four\r\r'
  const whole = all(source)
  fc.assert(
    fc.property(fc.array(fc.nat(source.length), { maxLength: 8 }), (cuts) => {
      const points = [0, ...cuts.sort((a, b) => a - b), source.length]
      const texts = points.slice(1).map((to, i) => source.slice(points[i], to))
      expect(all(...texts)).toEqual(whole)
    }),
    { seed: 1, numRuns: 200 },
  )
  expect(whole).toEqual(['one\ntwo', 'three', 'four'])
})
