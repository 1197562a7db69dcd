import { describe, expect, it } from 'vitest'
import { snapshotJson } from '../src/index.ts'

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle
const holeAndExtra = Object.assign([1, 2, 3], { x: 1 })
delete holeAndExtra[1]

describe('a JSON snapshot', () => {
  it.each<[string, unknown]>([
    ['undefined', { a: undefined }],
    ['NaN', [Number.NaN]],
    ['negative zero', -0],
    ['a big integer', 1n],
    ['a function', () => 1],
    ['a symbol key', { [Symbol('x')]: 1 }],
    ['an accessor', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['a hidden key', Object.defineProperty({}, 'a', { value: 1 })],
    ['a class instance', new Map()],
    ['a hole', new Array(2)],
    ['a hole that an extra key makes up for', holeAndExtra],
    ['a cycle', cycle],
  ])('refuses %s', (_what, value) => {
    expect(() => snapshotJson(value)).toThrow('value is not losslessly JSON-serializable')
  })

  it('is a frozen copy, key order and __proto__ included', () => {
    const shared = { s: 1 }
    const value = { b: [1, 'x', null, true], a: shared, again: shared, ...JSON.parse('{"__proto__":{"p":1}}') }
    Object.defineProperty(value, '__proto__', { value: { p: 1 }, enumerable: true, configurable: true, writable: true })
    const copy = snapshotJson(value)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
    expect(copy).not.toBe(value)
    expect(Object.isFrozen(copy) && Object.isFrozen(copy.b)).toBe(true)
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  it('has no depth limit', () => {
    let value: unknown = 1
    for (let i = 0; i < 100_000; i++) value = [value]
    let copy = snapshotJson(value)
    for (let i = 0; i < 100_000; i++) copy = (copy as unknown[])[0]
    expect(copy).toBe(1)
  })
})
