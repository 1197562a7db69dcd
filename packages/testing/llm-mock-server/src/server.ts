import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BehaviourName, type BehaviourScene, behaviours } from './behaviours.ts'
import { type MockAnswer, sseEvent, wireAnswer } from './wire.ts'

/** One answer to one request; the last one answers all that follow. */
export type MockStep =
  | MockAnswer
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | {
      /** Events as they are; a string is sent without quotes (`[DONE]`). */
      readonly raw: readonly (object | string)[]
      /** Cut the connection afterwards instead of ending the body. */
      readonly drop?: true
      readonly stallMs?: number
    }
  | { readonly behaviour: BehaviourName | 'random'; readonly ms?: number }

export interface MockRequest {
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  /** Parsed; undefined when it was no JSON. */
  readonly body: any
  /** The body as it came. */
  readonly raw: string
  readonly at: number
  /** Milliseconds of one steady clock: the head came; the answer was sent, as far as this side knows. */
  readonly began: number
  readonly ended?: number
  /** A call without tools (a title): answered aside, not from the script. */
  readonly side: boolean
}

export interface MockServer {
  /** Base URL for `DEEPSEEK_BASE_URL`. */
  readonly url: string
  /** In order of arrival; side calls included. */
  readonly requests: readonly MockRequest[]
  /** Connections accepted so far. */
  readonly connections: number
  close(): Promise<void>
}

export interface MockServerOptions {
  readonly steps: readonly MockStep[]
  readonly port?: number
  /** Requests without tools are titles in the product; `script` answers them like any other. Default: `title`. */
  readonly sideCalls?: 'title' | 'script'
  /** Seed of `{behaviour: 'random'}`. */
  readonly seed?: number
}

/** A chat-completions server on loopback whose model says what the steps say. */
export async function startMockServer(options: MockServerOptions): Promise<MockServer> {
  const requests: MockRequest[] = []
  const random = generator(options.seed ?? 1)
  let turn = 0
  let connections = 0
  let release = () => {}
  const closed = new Promise<void>((resolve) => {
    release = resolve
  })

  const server = http.createServer(async (request, response) => {
    const began = performance.now()
    response.on('error', () => {})
    const raw = await readText(request)
    const body = parse(raw)
    if (!/\/chat\/completions$/.test(request.url ?? '')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such path"}}')
      return
    }
    const side = options.sideCalls !== 'script' && !(Array.isArray(body?.tools) && body.tools.length > 0)
    const heard = { path: request.url ?? '', headers: request.headers, body, raw, at: Date.now(), began, side }
    const place = requests.push(heard) - 1
    response.once('finish', () => {
      requests[place] = { ...heard, ended: performance.now() }
    })
    if (side) return write(response, wireAnswer({ text: 'Mock title' }, 0))
    const step = options.steps[Math.min(turn, options.steps.length - 1)] ?? { text: 'done' }
    turn++
    await play(step, { response, turn, ms: 50, closed }, random)
  })
  server.on('connection', (socket) => {
    connections++
    socket.on('error', () => {})
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections
    },
    async close() {
      release()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function play(step: MockStep, scene: BehaviourScene, random: () => number): Promise<void> {
  const { response } = scene
  if ('behaviour' in step) {
    const names = Object.keys(behaviours) as BehaviourName[]
    const chosen = step.behaviour === 'random' ? names[Math.floor(random() * names.length)] : step.behaviour
    const behave: (scene: BehaviourScene) => void | Promise<void> = behaviours[chosen as BehaviourName]
    return behave({ ...scene, ms: step.ms ?? scene.ms })
  }
  if ('status' in step) {
    response
      .writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
      .end(step.body ?? '{"error":{"message":"mock"}}')
    return
  }
  if ('raw' in step) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of step.raw) response.write(sseEvent(event))
    if (step.stallMs !== undefined) await pause(step.stallMs, scene.closed)
    if (step.drop) setTimeout(() => response.destroy(), 20)
    else response.end()
    return
  }
  const { delayMs } = step
  if (delayMs === undefined) return write(response, wireAnswer(step, scene.turn))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const wire of wireAnswer(step, scene.turn)) {
    await pause(delayMs, scene.closed)
    response.write(sseEvent(wire))
  }
  response.end(sseEvent('[DONE]'))
}

function write(response: http.ServerResponse, wires: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const wire of wires) response.write(sseEvent(wire))
  response.end(sseEvent('[DONE]'))
}

function pause(ms: number, closed: Promise<void>): Promise<unknown> {
  return Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), closed])
}

async function readText(request: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part as Buffer)
  } catch {
    // The client went away in the middle; what came is all there is.
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Mulberry32: the same order of random behaviours in every run. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
