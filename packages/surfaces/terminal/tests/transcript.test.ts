import type { SessionEvent } from '@dsh/session'
import { describe, expect, it } from 'vitest'
import { createTranscript, type Item } from '../src/items.ts'
import { createTheme } from '../src/theme.ts'
import { applyEvent } from '../src/transcript.ts'
import { activityLine } from '../src/view/footer.ts'

let seq = 0
function event(type: string, data: unknown, time = 1000): SessionEvent {
  return { type, seq: seq++, time, data } as unknown as SessionEvent
}
function play(...events: SessionEvent[]) {
  const transcript = createTranscript()
  for (const entry of events) applyEvent(transcript, entry)
  return transcript
}
const chunk = (value: object, step = 1) => event('assistant/chunk', { turn: 1, step, chunk: value })
const prompt = (text: string) => ({
  role: 'user',
  id: text,
  source: { kind: 'user' },
  content: [{ type: 'text', text }],
})
const answer = (...content: object[]) =>
  event('assistant/message', {
    turn: 1,
    step: 1,
    message: { role: 'assistant', id: 'a', content, source: { kind: 'model', provider: 'p', model: 'm' } },
  })
const shape = (item: Item) => ({
  kind: item.kind,
  ...('text' in item ? { text: item.text } : {}),
  settled: item.settled,
})

describe('the transcript of a session', () => {
  it('shows a streamed answer once, and the message is the last word', () => {
    const t = play(
      event('turn/start', { turn: 1 }),
      event('user/message', prompt('hi')),
      chunk({ type: 'block-start', index: 0, blockType: 'text' }),
      chunk({ type: 'text-delta', index: 0, text: 'Hel' }),
      chunk({ type: 'text-delta', index: 0, text: 'lo' }),
    )
    expect(t.items.map(shape)).toEqual([
      { kind: 'prompt', text: 'hi', settled: true },
      { kind: 'answer', text: 'Hello', settled: false },
    ])
    applyEvent(t, answer({ type: 'text', text: 'Hello' }))
    applyEvent(t, event('turn/end', { turn: 1, reason: { kind: 'completed' } }))
    expect(t.items.map(shape)).toEqual([
      { kind: 'prompt', text: 'hi', settled: true },
      { kind: 'answer', text: 'Hello', settled: true },
    ])
    expect(t.turnOpen).toBe(false)
  })

  it('drops the half answer of a failed attempt and says when it is asked again', () => {
    const t = play(
      event('turn/start', { turn: 1 }),
      chunk({ type: 'text-delta', index: 0, text: 'half' }),
      chunk({ type: 'finish', reason: { kind: 'error', failure: { code: 'RATE_LIMIT', message: 'busy' } } }),
      event(
        'llm/retry',
        {
          retryId: 'r',
          turn: 1,
          step: 1,
          provider: 'p',
          mode: 'normal',
          policyKey: '',
          retry: 1,
          maxRetries: 5,
          delayMs: 1200,
          failure: { code: 'RATE_LIMIT', message: 'busy' },
        },
        5000,
      ),
    )
    expect(t.items.map(shape)).toEqual([
      { kind: 'notice', text: 'request failed (RATE_LIMIT: busy); retry 1 of 5 in 1.2 s', settled: true },
    ])
    expect(t.retry).toEqual({ text: 'retry 1 of 5', until: 6200 })
  })

  it('says what to check when the server cannot be reached, and the same failure only once', () => {
    const retry = (number: number, failure: object) =>
      event('llm/retry', {
        ...{ retryId: 'r', turn: 1, step: 1, provider: 'deepseek-official', mode: 'normal', policyKey: '' },
        ...{ retry: number, maxRetries: 2, delayMs: 1200, failure },
      })
    const refused = { code: 'TRANSPORT', message: 'connect ECONNREFUSED' }
    const started = (number: number) => event('llm/retry-started', { retryId: 'r', turn: 1, step: 1, retry: number })
    const header = (provider: string) =>
      event('request/header', { header: { config: { provider, model: 'm' } }, reason: 'initial' })
    const t = play(
      event('turn/start', { turn: 1 }),
      header('deepseek-official'),
      retry(1, refused),
      started(1),
      retry(2, refused),
    )
    const theme = createTheme({ NO_COLOR: '1' })
    expect(activityLine(t, 1200, theme)).toMatch(/^. retry 2 of 2 in 1\.0 s · esc cancels · check .*DEEPSEEK_BASE_URL$/)
    applyEvent(t, started(2))
    expect(activityLine(t, 1200, theme)).toMatch(/^. retry 2 of 2, waiting · esc cancels · check .*DEEPSEEK_BASE_URL$/)
    applyEvent(t, event('turn/end', { turn: 1, reason: { kind: 'error', error: refused } }))
    expect(t.items.map((item) => 'text' in item && item.text)).toEqual([
      'request failed (TRANSPORT: connect ECONNREFUSED); retry 1 of 2 in 1.2 s',
      'failed again; retry 2 of 2 in 1.2 s',
      'TRANSPORT: connect ECONNREFUSED. Check the network and DEEPSEEK_BASE_URL',
    ])
    const other = play(
      event('turn/start', { turn: 1 }),
      header('local'),
      event('turn/end', { turn: 1, reason: { kind: 'error', error: refused } }),
    )
    expect(other.items.at(-1)).toMatchObject({
      text: 'TRANSPORT: connect ECONNREFUSED. Check the network and baseURL of provider "local"',
    })
  })

  it.each([
    ['AUTH', 'deepseek-official', 'bad key. The server refused the key: store another one with /login, or see'],
    ['AUTH', 'other', 'bad key. The server refused the key: store another one with "dsh login NAME", or see'],
    ['MISSING_CREDENTIAL', 'deepseek-official', 'bad key. /login stores one here'],
    ['HTTP_404', 'other', 'bad key. Check the name of the model (/model) and baseURL of provider "other"'],
    ['NO_ADAPTER', 'other', 'bad key. No row serves this provider: choose another with /model, or insert its row'],
    ['QUOTA', 'other', 'bad key. Top up the account, or choose another model with /model'],
  ])('says what to do about %s of %s', (code, provider, text) => {
    const error = { code, message: 'bad key' }
    const t = play(
      event('request/header', { header: { config: { provider, model: 'm' } }, reason: 'initial' }),
      event('turn/end', { turn: 1, reason: { kind: 'error', error } }),
    )
    expect(t.items.at(-1)).toMatchObject({ text: expect.stringContaining(`${code}: ${text}`) })
  })

  it('joins a streamed call, its start and its result into one card', () => {
    const t = play(
      event('turn/start', { turn: 1 }),
      chunk({ type: 'tool-call-delta', index: 0, id: 'c1', name: 'bash', argumentsDelta: '{"comm' }),
      chunk({ type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: 'and":"ls"}' }),
      answer({ type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' }),
      event('tool/call', { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{"command":"ls"}' }, 2000),
      event(
        'tool/result',
        {
          turn: 1,
          step: 1,
          message: {
            role: 'user',
            id: 'r',
            source: { kind: 'tool', callId: 'c1' },
            content: [
              { type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text: 'a.txt' }], isError: false },
            ],
          },
        },
        4500,
      ),
    )
    expect(t.items).toHaveLength(1)
    expect(t.items[0]).toMatchObject({
      kind: 'tool',
      name: 'bash',
      args: '{"command":"ls"}',
      state: 'done',
      result: 'a.txt',
      startedAt: 2000,
      endedAt: 4500,
      settled: true,
    })
  })

  it('settles what a cancelled turn left open', () => {
    const t = play(
      event('turn/start', { turn: 1 }),
      chunk({ type: 'text-delta', index: 0, text: 'part' }),
      chunk({ type: 'tool-call-delta', index: 1, id: 'c1', name: 'write', argumentsDelta: '{' }),
      event('turn/end', { turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } }),
    )
    expect(t.items.every((item) => item.settled)).toBe(true)
    expect(t.items.at(-1)).toMatchObject({ kind: 'notice', text: 'interrupted' })
  })

  it('follows the queue by its splices', () => {
    const t = play(
      event('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [prompt('one')] }),
      event('agent/inbox/spliced', { target: 'next-turn', start: 1, inserted: [prompt('two')] }),
      event('agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: 1, inserted: [] }),
    )
    expect(t.queued.map((entry) => entry.text)).toEqual(['two'])
  })
})
