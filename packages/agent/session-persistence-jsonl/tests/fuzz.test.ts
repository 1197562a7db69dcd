import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isDshError } from '@dsh/core'
import { expand, parseLog, type SessionEvent, structureProblems } from '@dsh/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repairLog, verifyLog } from '../src/index.ts'
import { salvage } from '../src/salvage.ts'
import { host, playTurn, temporaryRoot } from './scene.ts'

const runs = process.env['DSH_LONG'] === undefined ? 60 : 3000
const timeout = process.env['DSH_LONG'] === undefined ? 60_000 : 1_200_000
const named = new Set(['SESSION_LOG_CORRUPT', 'SESSION_FORMAT_UNSUPPORTED'])

const damage = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.double({ min: 0, max: 1, noNaN: true }), bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant('remove line' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant('double line' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.constantFrom('\n', '\u2028', '\0', '{}\n', '"', 'null\n', '[]\n'),
  }),
)
type Damage = Parameters<Parameters<typeof damage.map>[0]>[0]

function inflict(bytes: Buffer, how: Damage): Buffer {
  const at = Math.min(bytes.length - 1, Math.floor(how.at * bytes.length))
  switch (how.kind) {
    case 'flip': {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] as number) ^ (1 << how.bit)
      return copy
    }
    case 'cut':
      return bytes.subarray(0, at)
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(how.text), bytes.subarray(at)])
    default: {
      const lines = bytes.toString('latin1').split('\n')
      const line = Math.min(lines.length - 1, Math.floor(how.at * lines.length))
      lines.splice(
        line,
        how.kind === 'remove line' ? 1 : 0,
        ...(how.kind === 'double line' ? [lines[line] as string] : []),
      )
      return Buffer.from(lines.join('\n'), 'latin1')
    }
  }
}

/** Texts of the messages of turns whose end is in the log. */
function committed(events: readonly SessionEvent[]): number {
  return events.findLastIndex((event) => event.type === 'turn/end')
}

describe('a log damaged at random', () => {
  const seeds: [string, () => Promise<Buffer>][] = [
    [
      'of three turns',
      async () => {
        const h = await host(temporaryRoot())
        const session = h.sessions.create({ id: 's', cwd: '/w' })
        for (const turn of [1, 2, 3]) playTurn(session, turn)
        await h.sessions.dispose('s')
        const bytes = readFileSync((await h.store.locate('s')) as string)
        await h.dispose()
        return bytes
      },
    ],
  ]
  const shared = join(
    process.env['DSH_SHARED'] ?? resolve(import.meta.dirname, '../../../../../shared'),
    'data/reference-logs',
  )
  if (existsSync(shared))
    for (const name of readdirSync(shared).filter((one) => existsSync(join(shared, one, 'session.jsonl'))))
      seeds.push([`like ${name}`, async () => asStored(readFileSync(join(shared, name, 'session.jsonl'), 'utf8'))])

  /** A recorded transcript with the numbers and the header that a stored log has. */
  function asStored(text: string): Buffer {
    const { events } = parseLog(text)
    const header = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/w', delegationDepth: 0 }
    return Buffer.from([header, ...events].map((row) => `${JSON.stringify(row)}\n`).join(''))
  }

  it.each(seeds)(
    '%s loads, or is refused by name and can then be repaired; nothing before a committed turn is lost in silence',
    async (_name, make) => {
      const whole = await make()
      const h = await host(temporaryRoot())
      const session = h.sessions.create({ id: 's', cwd: '/w' })
      playTurn(session, 1)
      await h.sessions.dispose('s')
      const path = (await h.store.locate('s')) as string
      const root = dirname(dirname(dirname(path)))
      const original = whole
        .toString('utf8')
        .split('\n')
        .slice(1, -1)
        .flatMap((line) => expand(JSON.parse(line)))
      const last = committed(original)

      await fc.assert(
        fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
          const bytes = damages.reduce(inflict, whole)
          if (bytes.length === 0) return
          writeFileSync(path, bytes)
          try {
            const { events, problem } = await h.store.inspect('s')
            // It loads. Unless a flipped byte still is JSON, it is the original, short of a reported tail at most.
            const shorter = events.length <= last
            const cutFile = damages.some((one) => one.kind === 'cut' || one.kind === 'remove line')
            if (shorter && !cutFile) expect(problem).toBeDefined()
          } catch (error) {
            expect(isDshError(error) && named.has(error.code)).toBe(true)
          }
          try {
            await repairLog(root, 's', { dropUnknown: true })
          } catch (error) {
            expect(isDshError(error) && named.has(error.code)).toBe(true)
            return
          }
          const report = await verifyLog(root, 's')
          expect(report.problems.filter((text) => !text.includes('request/digest'))).toEqual([])
        }),
        { numRuns: Math.max(10, Math.floor(runs / seeds.length)), seed: 7 },
      )
      await h.dispose()
    },
    timeout,
  )

  it('is never a reason to throw for salvage, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const { events } = salvage(Buffer.from(bytes), 's')
        expect(structureProblems(events)).toEqual([])
      }),
      { numRuns: runs * 3, seed: 3 },
    )
  })
})

describe('a list of random events', () => {
  const turn = fc.nat(3)
  const step = fc.nat(2)
  const event = fc.oneof(
    fc.record({ type: fc.constantFrom('turn/start'), data: fc.record({ turn }) }),
    fc.record({
      type: fc.constantFrom('turn/end'),
      data: fc.record({ turn, reason: fc.constant({ kind: 'completed' }) }),
    }),
    fc.record({ type: fc.constantFrom('step/start', 'step/end'), data: fc.record({ turn, step }) }),
    fc.record({
      type: fc.constant('assistant/message'),
      data: fc.record({
        turn,
        step,
        message: fc.record({
          role: fc.constant('assistant'),
          content: fc.array(
            fc.record({
              type: fc.constant('tool-call'),
              id: fc.constantFrom('a', 'b'),
              name: fc.constant('t'),
              arguments: fc.string(),
            }),
          ),
          source: fc.constant({ kind: 'model', provider: 'p', model: 'm' }),
          id: fc.constant('i'),
        }),
      }),
      surfaceOp: fc.constant('append'),
    }),
    fc.record({
      type: fc.constant('tool/call'),
      data: fc.record({
        turn,
        step,
        callId: fc.constantFrom('a', 'b'),
        name: fc.constant('t'),
        arguments: fc.string(),
      }),
    }),
    fc.record({
      type: fc.constant('tool/result'),
      data: fc.constantFrom('a', 'b').chain((id) =>
        fc.record({
          turn,
          step,
          message: fc.constant({
            role: 'user',
            id: 'r',
            source: { kind: 'tool', callId: id },
            content: [{ type: 'tool-result', toolCallId: id, content: [], isError: false }],
          }),
        }),
      ),
      surfaceOp: fc.oneof(
        fc.constant('append'),
        fc.record({ op: fc.constant('replace'), start: fc.nat(20), end: fc.nat(20) }),
      ),
    }),
    fc.record({
      type: fc.constant('user/message'),
      data: fc.constant({ role: 'user', id: 'u', source: { kind: 'user' }, content: [] }),
      surfaceOp: fc.oneof(
        fc.constant('append'),
        fc.record({ op: fc.constant('replace'), start: fc.nat(20), end: fc.nat(20) }),
      ),
      sourceEventSeqs: fc.array(fc.nat(20), { minLength: 1 }),
    }),
  )
  it('is made into a log that holds every rule', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (list) => {
        const text = list.map((one, seq) =>
          JSON.stringify({
            type: one.type,
            seq,
            time: 1,
            data: one.data,
            ...('surfaceOp' in one ? { surfaceOp: one.surfaceOp } : {}),
            ...('sourceEventSeqs' in one ? { sourceEventSeqs: one.sourceEventSeqs } : {}),
          }),
        )
        const { events } = salvage(Buffer.from(`{"type":"session"}\n${text.join('\n')}\n`), 's')
        expect(structureProblems(events)).toEqual([])
        expect(events.map((one) => one.seq)).toEqual(events.map((_, i) => i))
      }),
      { numRuns: runs * 10, seed: 5 },
    )
  })
})
