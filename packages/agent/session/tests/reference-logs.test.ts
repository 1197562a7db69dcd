import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  deriveFrom,
  interruptedTurnClosers,
  pack,
  parseLog,
  structureProblems,
  upgradeEvent,
  validateSeed,
} from '../src/index.ts'

const root = join(
  process.env['DSH_SHARED'] ?? resolve(import.meta.dirname, '../../../../../shared'),
  'data/reference-logs',
)
const logs = existsSync(root)
  ? readdirSync(root, { recursive: true })
      .map(String)
      .filter((file) => /session[^/]*\.jsonl$/.test(file) || file.endsWith('replay.jsonl'))
      .sort()
  : []

describe.skipIf(logs.length === 0)('recorded logs of the reference product', () => {
  it.each(logs)('%s parses, expands, folds and derives', (file) => {
    const { header, events } = parseLog(readFileSync(join(root, file), 'utf8'))
    expect(header?.type).toBe('session')
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i))
    const upgraded = events.map((event) => upgradeEvent(event, header?.id ?? ''))
    expect(upgraded).toEqual(events)
    validateSeed(events)
    expect(structureProblems(events)).toEqual([])
    const messages = deriveFrom(events)
    expect(messages.length > 0).toBe(events.some((event) => event.type === 'user/message'))
    const again = parseLog([JSON.stringify(header), ...pack(events).map((row) => JSON.stringify(row)), ''].join('\n'))
    expect(JSON.stringify(again.events)).toBe(JSON.stringify(events))
  })

  it('a writer that died in a tool call gets the closers that the reference writes', () => {
    const file = join(root, 'semantic-checkpoint-snapshots_tool-outcome-unknown/session.expected.jsonl')
    const { events } = parseLog(readFileSync(file, 'utf8'))
    expect(JSON.stringify(interruptedTurnClosers(events.slice(0, 5)))).toBe(JSON.stringify(events.slice(5, 8)))
  })
})
