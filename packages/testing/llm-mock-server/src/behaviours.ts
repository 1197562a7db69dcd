import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { sseEvent, wireAnswer, wireChunk } from './wire.ts'

export interface BehaviourScene {
  readonly response: ServerResponse
  readonly turn: number
  /** Milliseconds that stalls, drips and slow answers take. */
  readonly ms: number
  /** Resolves when the server closes: nothing that hangs outlives the test. */
  readonly closed: Promise<void>
}

type Behaviour = (scene: BehaviourScene) => void | Promise<void>

const stream = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }
const answer = (scene: BehaviourScene, text = 'mock answer') =>
  `${wireAnswer({ text }, scene.turn)
    .map((wire) => sseEvent(wire))
    .join('')}${sseEvent('[DONE]')}`

const error =
  (status: number, message: string, headers: Record<string, string> = {}, extra: object = {}): Behaviour =>
  ({ response }) => {
    response.writeHead(status, { ...json, ...headers }).end(JSON.stringify({ error: { message, ...extra } }))
  }
const body =
  (text: string | Buffer, headers: Record<string, string> = stream): Behaviour =>
  ({ response }) => {
    response.writeHead(200, headers).end(text)
  }
const sleep = (scene: BehaviourScene) =>
  Promise.race([new Promise((resolve) => setTimeout(resolve, scene.ms)), scene.closed])

/** Everything a model server has been seen doing. Used by name in a step: `{behaviour: 'stall'}`. */
export const behaviours = {
  success: (scene) => void scene.response.writeHead(200, stream).end(answer(scene)),
  async slow_success(scene) {
    scene.response.writeHead(200, stream).write(sseEvent(wireChunk({ content: 'slow ' })))
    await sleep(scene)
    scene.response.end(answer(scene, 'answer'))
  },
  reasoning_success: ({ response, turn }) =>
    void response.writeHead(200, stream).end(
      wireAnswer({ reasoning: 'thinking', text: 'mock answer' }, turn)
        .map((w) => sseEvent(w))
        .join('') + sseEvent('[DONE]'),
    ),
  tool_call_success: ({ response, turn }) =>
    void response.writeHead(200, stream).end(
      wireAnswer({ calls: [{ name: 'bash', args: { command: 'true', description: 'd' } }] }, turn)
        .map((w) => sseEvent(w))
        .join('') + sseEvent('[DONE]'),
    ),
  max_tokens: ({ response, turn }) =>
    void response.writeHead(200, stream).end(
      wireAnswer({ text: 'half an ans', finish: 'length' }, turn)
        .map((w) => sseEvent(w))
        .join('') + sseEvent('[DONE]'),
    ),
  /** The connection is reset before a status line. */
  connection_reset: ({ response }) => void response.socket?.resetAndDestroy(),
  /** Headers, then the connection is cut. */
  async stream_disconnect({ response }) {
    response.writeHead(200, stream).flushHeaders()
    setImmediate(() => response.destroy())
  },
  /** Part of an answer, then the connection is cut. */
  partial_disconnect({ response }) {
    response.writeHead(200, stream).write(sseEvent(wireChunk({ content: 'par' })))
    setTimeout(() => response.destroy(), 20)
  },
  /** A kept connection that dies as the next request arrives. */
  async goaway(scene) {
    scene.response.writeHead(200, { ...stream, connection: 'keep-alive' }).end(answer(scene))
    await new Promise((resolve) => scene.response.once('finish', resolve))
    scene.response.socket?.destroy()
  },
  async stall(scene) {
    scene.response.writeHead(200, stream).write(sseEvent(wireChunk({ content: 'par' })))
    await scene.closed
  },
  /** Not even a status line. */
  stall_before_headers: (scene) => scene.closed,
  /** Nothing but keep-alive comments for `ms`, then the answer. */
  async comments_then_answer(scene) {
    scene.response.writeHead(200, stream)
    for (const until = Date.now() + scene.ms; Date.now() < until && !scene.response.destroyed; ) {
      scene.response.write(': keep-alive\n\n')
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    scene.response.end(answer(scene))
  },
  async comments_forever(scene) {
    scene.response.writeHead(200, stream)
    while (!scene.response.destroyed) {
      scene.response.write(': keep-alive\n\n')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  },
  async slow_drip(scene) {
    scene.response.writeHead(200, stream)
    for (const char of answer(scene, 'drip')) {
      scene.response.write(char)
      await new Promise((resolve) => setImmediate(resolve))
    }
    scene.response.end()
  },
  /** A finished answer without anything in it. */
  empty: ({ response }) =>
    void response.writeHead(200, stream).end(sseEvent(wireChunk({}, 'stop')) + sseEvent('[DONE]')),
  empty_body: body(''),
  stream_eof: body(sseEvent(wireChunk({ role: 'assistant' }))),
  partial_eof: body(sseEvent(wireChunk({ content: 'par' }))),
  malformed_json: body('data: {bad\n\n'),
  /** Valid JSON that is no chunk. */
  malformed_event: body('data: [1,2]\n\n'),
  half_json: body(`data: ${JSON.stringify(wireChunk({ content: 'x' })).slice(0, 40)}\n\n`),
  wrong_content_type: body('{"id":"x","choices":[{"message":{"content":"not streamed"}}]}', json),
  html_page: body('<html><body>Please log in to the Wi-Fi</body></html>', { 'content-type': 'text/html' }),
  error_event: body(sseEvent({ error: { message: 'upstream exploded', code: 500 } })),
  error_event_done: body(sseEvent({ error: { message: 'upstream exploded' } }) + sseEvent('[DONE]')),
  json_error_200: body('{"error":{"message":"overloaded"}}', json),
  empty_ids: ({ response }) =>
    void response.writeHead(200, stream).end(
      [
        wireChunk({
          tool_calls: [
            { index: 0, id: 'call_a', type: 'function', function: { name: 'bash', arguments: '{"command":' } },
          ],
        }),
        wireChunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '"true","desc' } }] }),
        wireChunk({ tool_calls: [{ index: 0, id: null, function: { name: null, arguments: 'ription":"d"}' } }] }),
        wireChunk({}, 'tool_calls'),
        '[DONE]',
      ]
        .map((wire) => sseEvent(wire))
        .join(''),
    ),
  duplicate_ids: ({ response }) =>
    void response.writeHead(200, stream).end(
      [
        wireChunk({
          tool_calls: [
            { index: 0, id: 'same', function: { name: 'bash', arguments: '{"command":"echo 1","description":"d"}' } },
          ],
        }),
        wireChunk({
          tool_calls: [
            { index: 1, id: 'same', function: { name: 'bash', arguments: '{"command":"echo 2","description":"d"}' } },
          ],
        }),
        wireChunk({}, 'tool_calls'),
        '[DONE]',
      ]
        .map((wire) => sseEvent(wire))
        .join(''),
    ),
  giant_delta: (scene) => void scene.response.writeHead(200, stream).end(answer(scene, 'x'.repeat(4_000_000))),
  /** A line that never ends. */
  async endless_line(scene) {
    scene.response.writeHead(200, stream).write('data: "')
    const block = 'x'.repeat(1 << 20)
    while (!scene.response.destroyed) await new Promise((resolve) => scene.response.write(block, resolve))
  },
  crlf_and_bom: ({ response, turn }) =>
    void response.writeHead(200, stream).end(
      `\uFEFF${wireAnswer({ text: 'mock answer' }, turn)
        .map((w) => sseEvent(w, '\r\n'))
        .join('')}${sseEvent('[DONE]', '\r\n')}`,
    ),
  /** Multi-byte characters cut between packets. */
  async split_utf8(scene) {
    scene.response.writeHead(200, stream)
    for (const byte of Buffer.from(answer(scene, 'grüße 😀'))) {
      scene.response.write(Buffer.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
    scene.response.end()
  },
  /** Compressed without being asked to. */
  gzip: (scene) =>
    void scene.response.writeHead(200, { ...stream, 'content-encoding': 'gzip' }).end(gzipSync(answer(scene))),
  redirect_loop: ({ response }) => void response.writeHead(307, { location: '/v1/chat/completions' }).end(),
  rate_limit: error(429, 'slow down'),
  rate_limit_wait: error(429, 'slow down', { 'retry-after': '1' }),
  rate_limit_too_long: error(429, 'slow down', { 'retry-after': '3600' }),
  server_error: error(500, 'internal error'),
  service_unavailable: error(503, 'overloaded'),
  bad_gateway_html: ({ response }) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
  auth_error: error(401, 'Authentication Fails'),
  invalid_request: error(400, 'Invalid parameter'),
  context_overflow: error(
    400,
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
  ),
  quota_exceeded: error(402, 'Insufficient Balance'),
  not_found: error(404, 'no such model'),
  unknown_finish: ({ response, turn }) =>
    void response.writeHead(200, stream).end(
      wireAnswer({ text: 'x', finish: 'content_filter' }, turn)
        .map((w) => sseEvent(w))
        .join('') + sseEvent('[DONE]'),
    ),
} satisfies Record<string, Behaviour>

export type BehaviourName = keyof typeof behaviours
