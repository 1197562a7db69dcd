import { expect, test } from 'vitest'
import { type Chain, callKey, nextLink } from '../src/chain.ts'
import { reminderText } from '../src/reminder.ts'

test('only identical calls in a row count, whatever the order of their argument keys', () => {
  const keys = [
    callKey('read', { a: 1, b: { c: 2, d: [1, 2] } }),
    callKey('read', { b: { d: [1, 2], c: 2 }, a: 1 }),
    callKey('read', { a: 1, b: { c: 2, d: [2, 1] } }),
    callKey('grep', { a: 1, b: { c: 2, d: [2, 1] } }),
  ]
  let chain: Chain | undefined
  const counts = keys.map((key) => {
    chain = nextLink(chain, key)
    return chain.count
  })
  expect(counts).toEqual([1, 2, 1, 1])
})

test('the first reminder is a hint, later ones show the call, cut where it is long', () => {
  const repeated = { tool: 'bash', count: 5, args: { command: 'x'.repeat(600) } }
  expect(reminderText(repeated, true, 500)).toMatch(/^You are repeating an identical tool call/)
  const detailed = reminderText(repeated, false, 500)
  expect(detailed).toMatch(
    /^Repeated tool call detected:\n- tool: bash\n- consecutive_calls: 5\n- arguments: \{"command":"x/,
  )
  expect(detailed).toContain('… (+114 more chars)')
  expect(reminderText({ ...repeated, args: '{bad' }, false, 500)).toContain('- arguments: {bad\n')
})
