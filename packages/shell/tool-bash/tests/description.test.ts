import { describe, expect, it } from 'vitest'
import { describeBash } from '../src/description.ts'
import { bashParameters, checkArgs } from '../src/parameters.ts'

describe("the tool's description", () => {
  it('has 1836 characters where commands are confined and 825 where they are not', () => {
    expect(describeBash({ background: true, confined: true })).toHaveLength(1836)
    expect(describeBash({ background: true, confined: false })).toHaveLength(825)
    expect(Buffer.byteLength(describeBash({ background: true, confined: true }))).toBe(1852)
    expect(Buffer.byteLength(describeBash({ background: true, confined: false }))).toBe(829)
  })

  it('says nothing of background jobs where there are none', () => {
    expect(describeBash({ background: false, confined: true })).not.toContain('run_in_background')
    expect(bashParameters({ background: false, confined: true }).properties).not.toHaveProperty('run_in_background')
  })

  it('lists its parameters in the order of the reference', () => {
    const { properties, required } = bashParameters({ background: true, confined: true })
    expect(Object.keys(properties ?? {})).toEqual([
      'command',
      'description',
      'timeoutMs',
      'workdir',
      'run_in_background',
      'sandbox_permissions',
      'justification',
    ])
    expect(required).toEqual(['command', 'description'])
    expect(Object.keys(bashParameters({ background: true, confined: false }).properties ?? {})).toHaveLength(5)
  })
})

describe('arguments that a schema cannot refuse', () => {
  it.each([
    [{ command: '  ', description: 'd' }, 'invalid command: expected a non-empty string'],
    [{ command: 'x', description: '\n' }, 'invalid description: expected a non-empty string'],
    [{ command: 'x', description: 'd', timeoutMs: -1 }, 'invalid timeoutMs: expected a positive number, got -1'],
    [{ command: 'x', description: 'd', timeoutMs: 0 }, 'invalid timeoutMs: expected a positive number, got 0'],
  ])('%j is refused by name', (args, message) => {
    expect(() => checkArgs(args)).toThrow(new Error(message))
  })
})
