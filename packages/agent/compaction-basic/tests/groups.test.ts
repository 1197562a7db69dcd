import type { ContentBlock, Message } from '@dsh/llm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactable, groupNodes, type Node } from '../src/groups.ts'

const user = (content: ContentBlock[], source: object = { kind: 'user' }) =>
  ({ role: 'user', id: 'u', source, content }) as unknown as Message
const text = (value = 'x') => user([{ type: 'text', text: value }])
const answer = (...ids: string[]) =>
  ({
    role: 'assistant',
    id: 'a',
    source: { kind: 'model', provider: 'p', model: 'm' },
    content: ids.map((id) => ({ type: 'tool-call', id, name: 't', arguments: '{}' })),
  }) as Message
const result = (id: string) => user([{ type: 'tool-result', toolCallId: id, content: [], isError: false }])
const checkpoint = () => user([{ type: 'text', text: 's' }], { kind: 'plugin', plugin: 'compact' })

const groups = (...messages: Message[]) =>
  groupNodes(
    messages.map((message, seq): Node => ({ seq, message })),
    () => 10,
  )
const range = (retain: number, ...messages: Message[]) =>
  compactable(groups(...messages), retain).flatMap((group) => group.seqs)

test('an answer and all results of its calls are one group', () => {
  expect(groups(text(), answer('a', 'b'), result('a'), result('b'), text()).map((group) => group.seqs)).toEqual([
    [0],
    [1, 2, 3],
    [4],
  ])
})

test('the newest answer stays with its results and all that follows, however small the tail should be', () => {
  expect(range(0, text(), answer('a'), result('a'))).toEqual([0])
  expect(range(0, text(), answer('a'), result('a'), text(), answer(), text())).toEqual([0, 1, 2, 3])
})

test('a tail is counted in tokens and never begins inside a group', () => {
  const messages = [text(), answer('a'), result('a'), text(), answer()]
  expect(range(20, ...messages)).toEqual([0, 1, 2])
  expect(range(39, ...messages)).toEqual([0, 1, 2])
  expect(range(40, ...messages)).toEqual([0])
})

test('without an answer, or with nothing before it but a checkpoint, there is nothing to compact', () => {
  expect(range(0, text(), text())).toEqual([])
  expect(range(0, checkpoint(), answer())).toEqual([])
  expect(range(0, checkpoint(), text(), answer())).toEqual([0, 1])
})

test('whatever the history, no pair is split', () => {
  const turn = fc.record({ calls: fc.integer({ min: 0, max: 3 }), extra: fc.integer({ min: 0, max: 2 }) })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), fc.integer({ min: 0, max: 300 }), (turns, retain) => {
      const messages = turns.flatMap(({ calls, extra }, n) => {
        const ids = Array.from({ length: calls }, (_, i) => `${n}-${i}`)
        return [text(), answer(...ids), ...ids.map(result), ...Array.from({ length: extra }, () => text())]
      })
      const cut = new Set(range(retain, ...messages))
      const open = new Set<string>()
      messages.forEach((message, seq) => {
        if (!cut.has(seq)) return
        for (const block of message.content) {
          if (block.type === 'tool-call') open.add(block.id)
          if (block.type === 'tool-result') open.delete(block.toolCallId)
        }
      })
      expect(open.size).toBe(0)
      expect([...cut]).toEqual([...cut.keys()].map((_, i) => i))
    }),
    { seed: 1, numRuns: 200 },
  )
})
