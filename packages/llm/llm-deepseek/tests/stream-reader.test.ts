import { createAssembler, failureOf, type StreamChunk } from '@dsh/llm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStreamReader } from '../src/stream-reader.ts'

const seed = Number(process.env['DSH_SEED'] ?? 20)
const numRuns = process.env['DSH_LONG'] === undefined ? 300 : 20_000

/** Feeds texts and closes; gives the chunks and the code of the failure, if any. */
function read(texts: readonly string[]): { chunks: StreamChunk[]; code: string | undefined } {
  const reader = createStreamReader('X')
  const chunks: StreamChunk[] = []
  for (const text of texts) {
    const reading = reader.feed(Buffer.from(text))
    chunks.push(...reading.chunks)
    if (reading.end !== undefined)
      return { chunks, code: reading.end.failure === undefined ? undefined : failureOf(reading.end.failure).code }
  }
  const { chunks: rest, end } = reader.close(true)
  return { chunks: [...chunks, ...rest], code: end?.failure === undefined ? undefined : failureOf(end.failure).code }
}

/** Starts before deltas before ends, no index twice, at most one usage, a finish last. */
function expectGrammar(chunks: readonly StreamChunk[], finished: boolean): void {
  const state = new Map<number, 'open' | 'closed'>()
  let usages = 0
  chunks.forEach((chunk, i) => {
    if (chunk.type === 'usage') usages++
    else if (chunk.type === 'finish') expect(i).toBe(chunks.length - 1)
    else if (chunk.type === 'block-start') {
      expect(chunk.index).toBe(state.size)
      state.set(chunk.index, 'open')
    } else {
      expect(state.get(chunk.index)).toBe('open')
      if (chunk.type === 'block-end') state.set(chunk.index, 'closed')
    }
  })
  expect(usages).toBeLessThanOrEqual(1)
  expect(chunks.at(-1)?.type === 'finish').toBe(finished)
  if (finished) expect([...state.values()].every((value) => value === 'closed')).toBe(true)
}

const text = fc.oneof(fc.string(), fc.constant(null), fc.constant(undefined), fc.integer())
const call = fc.record(
  {
    index: fc.oneof(fc.nat(3), fc.constant(undefined)),
    id: text,
    function: fc.oneof(fc.record({ name: text, arguments: text }), fc.constant(null)),
  },
  { requiredKeys: [] },
)
const wire = fc.record(
  {
    choices: fc.oneof(
      fc.array(
        fc.record(
          {
            delta: fc.oneof(
              fc.record(
                {
                  content: text,
                  reasoning_content: text,
                  reasoning: text,
                  tool_calls: fc.oneof(fc.array(call), fc.jsonValue()),
                },
                { requiredKeys: [] },
              ),
              fc.jsonValue(),
            ),
            finish_reason: fc.oneof(fc.constantFrom('stop', 'tool_calls', 'length', null), text),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
      fc.jsonValue(),
    ),
    usage: fc.oneof(
      fc.record({ prompt_tokens: fc.oneof(fc.integer(), fc.double()), completion_tokens: text }),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
)
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`

test('whatever objects come, the chunks follow the grammar, and a failure has a code', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(wire, fc.jsonValue()), { maxLength: 8 }), (wires) => {
      const { chunks, code } = read([...wires.map(event), 'data: [DONE]\n\n'])
      expectGrammar(chunks, code === undefined)
      expect([undefined, 'MALFORMED_RESPONSE', 'SERVER', 'QUOTA', 'CONTEXT_WINDOW_EXCEEDED']).toContain(code)
      const assembler = createAssembler()
      for (const chunk of chunks) assembler.push(chunk)
      const ids = assembler.result().content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).not.toContain('')
    }),
    { seed, numRuns },
  )
})

test('whatever bytes come, nothing but a coded failure or a finished answer comes out', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 }), (texts) => {
      const { chunks, code } = read(texts.map((value) => `data: ${value}\n\n`))
      expectGrammar(chunks, code === undefined)
    }),
    { seed, numRuns },
  )
})

test('usage counts that are no counts are left out', () => {
  const { chunks } = read([
    event({ choices: [{ delta: { content: 'x' } }], usage: { prompt_tokens: -5, completion_tokens: 'many' } }),
    'data: [DONE]\n\n',
  ])
  expect(chunks.some((chunk) => chunk.type === 'usage')).toBe(false)
})

test('what came before a failure in the same packet is not lost', () => {
  const { chunks, code } = read([`${event({ choices: [{ delta: { content: 'kept' } }] })}data: {bad\n\n`])
  expect(code).toBe('MALFORMED_RESPONSE')
  expect(chunks).toContainEqual({ type: 'text-delta', index: 0, text: 'kept' })
})
