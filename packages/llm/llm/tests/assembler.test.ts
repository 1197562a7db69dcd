import { expect, test } from 'vitest'
import { createAssembler, type StreamChunk } from '../src/index.ts'

function assemble(chunks: readonly StreamChunk[]) {
  const assembler = createAssembler()
  for (const chunk of chunks) assembler.push(chunk)
  return assembler
}

test('deltas become blocks in the order in which their indices were first seen', () => {
  const made = assemble([
    { type: 'block-start', index: 3, blockType: 'reasoning' },
    { type: 'reasoning-delta', index: 3, text: 'be' },
    { type: 'text-delta', index: 1, text: 'an' },
    { type: 'reasoning-delta', index: 3, text: 'cause' },
    { type: 'text-delta', index: 1, text: 'swer' },
    { type: 'finish', reason: { kind: 'stop' } },
  ]).result()
  expect(made).toEqual({
    content: [
      { type: 'reasoning', text: 'because' },
      { type: 'text', text: 'answer' },
    ],
    finish: { kind: 'stop' },
  })
})

test('the first id and name that are not empty stay, and a call without either gets a fallback', () => {
  const { content } = assemble([
    { type: 'tool-call-delta', index: 0, id: '', argumentsDelta: '{' },
    { type: 'tool-call-delta', index: 0, id: 'call_a', name: 'bash', argumentsDelta: '"a":' },
    { type: 'tool-call-delta', index: 0, id: 'call_b', name: 'other', argumentsDelta: '1}' },
    { type: 'tool-call-delta', index: 4, id: '', argumentsDelta: '' },
  ]).result()
  expect(content).toEqual([
    { type: 'tool-call', id: 'call_a', name: 'bash', arguments: '{"a":1}' },
    { type: 'tool-call', id: 'call-4', name: '', arguments: '' },
  ])
})

test('a closed block is authoritative: later deltas and a second close change nothing', () => {
  const { content } = assemble([
    { type: 'text-delta', index: 0, text: 'draft' },
    { type: 'block-end', index: 0, block: { type: 'text', text: 'final' } },
    { type: 'text-delta', index: 0, text: ' more' },
    { type: 'block-end', index: 0, block: { type: 'text', text: 'again' } },
  ]).result()
  expect(content).toEqual([{ type: 'text', text: 'final' }])
})

test('an answer cut at the output cap loses its tool calls and the provider data that belonged to them', () => {
  const made = assemble([
    { type: 'text-delta', index: 0, text: 'half' },
    { type: 'tool-call-delta', index: 1, id: 'c', name: 'bash', argumentsDelta: '{"comm' },
    {
      type: 'finish',
      reason: { kind: 'max-tokens' },
      replayState: { response: { id: 'r' }, blocks: ['text data', 'call data'] },
    },
  ]).result()
  expect(made.content).toEqual([{ type: 'text', text: 'half' }])
  expect(made.replayState).toEqual({ response: { id: 'r' }, blocks: ['text data'] })
})

test('provider data that does not line up with the blocks is dropped', () => {
  const made = assemble([
    { type: 'text-delta', index: 0, text: 'a' },
    { type: 'finish', reason: { kind: 'stop' }, replayState: { response: 1, blocks: [1, 2] } },
  ]).result()
  expect(made.replayState).toEqual({ response: 1 })
})

test('of a cut stream only text and reasoning with something in it remain', () => {
  const assembler = assemble([
    { type: 'reasoning-delta', index: 0, text: 'thinking' },
    { type: 'text-delta', index: 1, text: ' \n' },
    { type: 'tool-call-delta', index: 2, id: 'c', name: 'bash', argumentsDelta: '{}' },
  ])
  expect(assembler.interruptedContent()).toEqual([{ type: 'reasoning', text: 'thinking' }])
  expect(assembler.finish).toBeUndefined()
})

test('a stream without a finish counts as stopped, and its usage is kept', () => {
  const made = assemble([{ type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } }]).result()
  expect(made).toEqual({ content: [], usage: { inputTokens: 1, outputTokens: 2 }, finish: { kind: 'stop' } })
})
