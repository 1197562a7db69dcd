import { describe, expect, it } from 'vitest'
import { makeScrub, printable, scrubJson, toHtml, toMarkdown, toPlain, transcriptOf } from '../src/export/index.ts'
import type { SessionEvent, SessionHeader } from '../src/types.ts'

const header: SessionHeader = { type: 'session', version: 0, id: 's', createdAt: 0, cwd: '/w', delegationDepth: 0 }
const rows: [string, unknown, object?][] = [
  ['turn/start', { turn: 1 }],
  ['step/start', { turn: 1, step: 1 }],
  [
    'user/message',
    { content: [{ type: 'text', text: 'do <it>\n# now' }], source: { kind: 'user' }, role: 'user', id: 'u' },
    { surfaceOp: 'append' },
  ],
  [
    'user/message',
    { content: [{ type: 'text', text: 'rules' }], source: { kind: 'plugin', plugin: 'p' }, role: 'user', id: 'c' },
    { surfaceOp: 'append' },
  ],
  [
    'assistant/message',
    {
      turn: 1,
      step: 1,
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'thinking' },
          { type: 'text', text: 'Look: `a<b>`\n```sh\nls ```\n```\n- **one**\n- two' },
          { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
        ],
        source: { kind: 'model', provider: 'p', model: 'm' },
        id: 'a',
      },
      usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5 },
    },
    { surfaceOp: 'append' },
  ],
  ['tool/call', { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{"command":"ls"}' }],
  [
    'tool/result',
    {
      turn: 1,
      step: 1,
      message: {
        source: { kind: 'tool', callId: 'c1' },
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            content: [{ type: 'text', text: 'a\nb\n</pre><script>alert(1)</script>' }],
            isError: true,
          },
        ],
        role: 'user',
        id: 'r',
      },
    },
    { surfaceOp: 'append', sourceEventSeqs: [5] },
  ],
  ['session/title', { title: 'A "title"', messageSeqs: [2], source: { kind: 'user' } }],
  ['step/end', { turn: 1, step: 1 }],
  ['turn/end', { turn: 1, reason: { kind: 'error', error: { code: 'SERVER', message: 'busy' } } }],
]
const events = rows.map(([type, data, marker], seq) => ({
  type,
  seq,
  time: 0,
  data,
  ...marker,
})) as unknown as SessionEvent[]
const transcript = transcriptOf(header, events)

describe('a transcript', () => {
  it('tells what was said and done, in order', () => {
    expect(transcript).toMatchObject({
      title: 'A "title"',
      turns: 1,
      models: ['m'],
      usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5 },
    })
    expect(transcript.entries.map((entry) => entry.kind)).toEqual(['prompt', 'context', 'answer', 'note'])
    expect(transcript.entries[2]).toMatchObject({
      tools: [{ name: 'bash', isError: true, result: expect.stringContaining('a\nb') }],
    })
  })

  it('as HTML is one file that loads and runs nothing', () => {
    const html = toHtml(transcript)
    expect(html).not.toMatch(/<script|https?:\/\/|<img|<link|src=|@import|url\(/)
    expect(html).toContain("default-src 'none'")
    expect(html).toContain('do &#60;it&#62;')
    expect(html).toContain('&#60;/pre&#62;&#60;script&#62;')
    expect(html).toContain('<code>a&#60;b&#62;</code>')
    expect(html).toContain('<ul><li><strong>one</strong></li><li>two</li></ul>')
    expect(html).toContain('<details class="failed"><summary>bash · failed — ls</summary>')
    expect(html).toContain('<title>A &#34;title&#34;</title>')
  })

  it('as Markdown keeps a fence closed whatever the text holds', () => {
    const text = toMarkdown({
      ...transcript,
      entries: [{ kind: 'context', seq: 0, time: 0, from: 'x', text: '````\nend' }],
    })
    expect(text).toContain('`````\n````\nend\n`````')
    expect(toMarkdown(transcript)).toContain('## Prompt\n\ndo <it>')
  })

  it('in a terminal shortens results and sends no control characters', () => {
    const evil = {
      ...transcript,
      entries: [{ kind: 'prompt' as const, seq: 0, time: 0, text: '\u001b[2Jx\u009b\u202e' }],
    }
    expect(toPlain(evil, { maxResultLines: 1 })).toContain('> ␛[2Jx\ufffd\ufffd')
    expect(toPlain(transcript, { maxResultLines: 1 })).toContain('    a\n    … 2 more lines')
    expect(printable('a\r\n\tb')).toBe('a\n\tb')
  })
})

describe('scrubbing', () => {
  const scrub = makeScrub({ MY_API_KEY: 'hunter2hunter2', PLAIN: 'visible-value' })
  it.each([
    ['key in the environment: hunter2hunter2', 'key in the environment: [redacted]'],
    ['sk-abcdefghijklmnop1234', '[redacted]'],
    ['ghp_abcdefghijklmnopqrstuvwx', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['password = "correct horse"', 'password = "[redacted]"'],
    ['"api_key": "abcdef123456"', '"api_key": "[redacted]"'],
    ['Authorization: Bearer abcdefghijklmnop', 'Authorization: Bearer [redacted]'],
    ['https://user:secretpw@host/x', 'https://user:[redacted]@host/x'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh', '[redacted]'],
  ])('%s', (text, clean) => {
    expect(scrub(text)).toBe(clean)
  })

  it.each([
    'visible-value',
    'the token count is 12',
    'const token = getToken()',
    'password: $PASSWORD',
    'a task-force of skilled people',
  ])('leaves "%s" alone', (text) => {
    expect(scrub(text)).toBe(text)
  })

  it('reaches every string of a JSON value', () => {
    expect(scrubJson({ a: ['x hunter2hunter2'], n: 1, z: null }, scrub)).toEqual({ a: ['x [redacted]'], n: 1, z: null })
  })
})
