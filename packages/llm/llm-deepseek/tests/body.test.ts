import type { GenerateOptions, Message } from '@dsh/llm'
import { expect, test } from 'vitest'
import { Config } from '../src/config.ts'
import { createBodyBuilder } from '../src/request-body.ts'

const source = { kind: 'user' }
const user = (text: string): Message => ({ role: 'user', id: text, source, content: [{ type: 'text', text }] })

const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString()

async function body(options: Partial<GenerateOptions>, config: object = {}, maxTokens?: number): Promise<string> {
  const build = createBodyBuilder(Config.parse(config))
  const made = await build(
    { provider: 'p', model: 'm', messages: [user('hi')], ...options },
    { image: undefined, reasoningField: 'reasoning_content', refuseImage: 'no images' },
  )
  return text(made.finish(maxTokens))
}

test('the keys of the body come in the order that the provider documents', async () => {
  const text = await body(
    {
      system: 'be brief',
      reasoningEffort: 'high',
      tools: [{ name: 't', description: 'd', parameters: { type: 'object' } }],
      temperature: 0.5,
      stop: ['x'],
    },
    {},
    256000,
  )
  expect(text).toBe(
    '{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"stream":true,' +
      '"stream_options":{"include_usage":true},"thinking":{"type":"enabled"},"reasoning_effort":"high",' +
      '"tools":[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object"}}}],' +
      '"temperature":0.5,"max_tokens":256000,"stop":["x"]}',
  )
})

test.each([
  ['off', { thinking: { type: 'disabled' } }],
  ['low', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
  ['max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
])('effort %s is said in the words of the provider', async (reasoningEffort, want) => {
  const { thinking, reasoning_effort } = JSON.parse(await body({ reasoningEffort }))
  expect({ thinking, ...(reasoning_effort === undefined ? {} : { reasoning_effort }) }).toEqual(want)
})

test('a title is asked for without thinking', async () => {
  expect(JSON.parse(await body({ reasoningEffort: 'high', purpose: 'session-title' })).thinking).toEqual({
    type: 'disabled',
  })
})

test('an effort against a deployment that does not think is refused', async () => {
  await expect(body({ reasoningEffort: 'high' }, { thinking: 'disabled' })).rejects.toMatchObject({
    code: 'UNSUPPORTED_REASONING_EFFORT',
    message: 'DeepSeek deployment does not support reasoning effort "high"',
  })
})

test('the plain dialect sends nothing that only one vendor knows', async () => {
  const sent = JSON.parse(await body({ reasoningEffort: 'high' }, { dialect: 'openai', streamUsage: false }))
  expect(Object.keys(sent)).toEqual(['model', 'messages', 'stream', 'reasoning_effort'])
})

test('an assistant turn sends its reasoning back, and text that is empty rather than null', async () => {
  const assistant: Message = {
    role: 'assistant',
    id: 'a',
    source: { kind: 'model', provider: 'p', model: 'm' },
    content: [
      { type: 'reasoning', text: 'be' },
      { type: 'reasoning', text: 'cause' },
      { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
    ],
  }
  expect(JSON.parse(await body({ messages: [assistant] })).messages).toEqual([
    {
      role: 'assistant',
      content: '',
      reasoning_content: 'because',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
    },
  ])
})

test.each([
  ['', '{}'],
  ['{"a":1}', '{"a":1}'],
  ['{"command":"touch made","descr', '{"invalid_arguments":"{\\"command\\":\\"touch made\\",\\"descr"}'],
])('arguments %j of an earlier call go back as valid JSON', async (raw, want) => {
  const assistant: Message = {
    role: 'assistant',
    id: 'a',
    source: { kind: 'model', provider: 'p', model: 'm' },
    content: [{ type: 'tool-call', id: 'c1', name: 'bash', arguments: raw }],
  }
  expect(JSON.parse(await body({ messages: [assistant] })).messages[0].tool_calls[0].function.arguments).toBe(want)
})

test('tool results become messages of their own, behind the text of the same message', async () => {
  const results: Message = {
    role: 'user',
    id: 'r',
    source,
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
        isError: false,
      },
      { type: 'text', text: 'note' },
      { type: 'tool-result', toolCallId: 'c2', content: [], isError: false },
    ],
  }
  expect(JSON.parse(await body({ messages: [results] })).messages).toEqual([
    { role: 'user', content: 'note' },
    { role: 'tool', tool_call_id: 'c1', content: 'onetwo' },
    { role: 'tool', tool_call_id: 'c2', content: '(no output)' },
  ])
})

const image = {
  type: 'image',
  attachment: { attachmentId: 'x', mediaType: 'image/png', bytes: 1, width: 1, height: 1 },
} as const

test('a text-only model refuses an image by name', async () => {
  await expect(body({ messages: [{ role: 'user', id: 'i', source, content: [image] }] })).rejects.toMatchObject({
    code: 'UNSUPPORTED_CONTENT',
    message: 'no images',
  })
})

test('an image of a tool result follows in a message of the user', async () => {
  const build = createBodyBuilder(Config.parse({}))
  const message: Message = {
    role: 'user',
    id: 'i',
    source,
    content: [
      { type: 'tool-result', toolCallId: 'c', content: [{ type: 'text', text: 'seen' }, image], isError: false },
    ],
  }
  const made = await build(
    { provider: 'p', model: 'm', messages: [message] },
    { image: async () => 'data:image/png;base64,AA==', reasoningField: 'none', refuseImage: '' },
  )
  expect(JSON.parse(text(made.finish(undefined))).messages).toEqual([
    { role: 'tool', tool_call_id: 'c', content: 'seen' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Attached image(s) from tool result:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
    },
  ])
})

const wire = { image: undefined, reasoningField: 'reasoning_content', refuseImage: '' } as const

test('a longer conversation starts with the bytes of the shorter one, which stay as they were', async () => {
  const build = createBodyBuilder(Config.parse({}))
  const ask = (messages: readonly Message[], system = 'sys') =>
    build({ provider: 'p', model: 'm', sessionId: 's', system, messages }, wire)
  const history = [user('one'), user('grüße 😀')]
  const first = (await ask(history)).finish(10)
  const before = text(first)
  const longer = Array.from({ length: 50 }, (_, i) => user(`${i} ${'x'.repeat(3000)}`))
  const second = text((await ask([...history, ...longer])).finish(10))
  expect(text(first)).toBe(before)
  expect(second.startsWith(before.slice(0, before.indexOf('],"stream"')))).toBe(true)
  expect(JSON.parse(second).messages.length).toBe(53)
})

test.each<[string, (history: Message[]) => Message[], string]>([
  ['shorter', (history) => history.slice(0, 1), 'sys'],
  ['rewritten', (history) => [user('summary'), ...history.slice(1)], 'sys'],
  ['under another prompt', (history) => history, 'other'],
])('a history that came back %s is encoded anew', async (_name, change, system) => {
  const build = createBodyBuilder(Config.parse({}))
  const options = { provider: 'p', model: 'm', sessionId: 's' }
  const history = [user('one'), user('two')]
  await build({ ...options, system: 'sys', messages: history }, wire)
  const messages = change(history)
  const sent = JSON.parse(text((await build({ ...options, system, messages }, wire)).finish(1))).messages
  expect(sent).toEqual([
    { role: 'system', content: system },
    ...messages.map((message) => ({ role: 'user', content: message.id })),
  ])
})

test('a side call of the same session disturbs nothing', async () => {
  const build = createBodyBuilder(Config.parse({}))
  const options = { provider: 'p', model: 'm', sessionId: 's' }
  const history = [user('one')]
  await build({ ...options, messages: history }, wire)
  await build({ ...options, messages: [...history, user('sum up')], purpose: 'compaction' }, wire)
  const sent = JSON.parse(text((await build({ ...options, messages: [...history, user('two')] }, wire)).finish(1)))
  expect(sent.messages.map((message: { content: string }) => message.content)).toEqual(['one', 'two'])
})
