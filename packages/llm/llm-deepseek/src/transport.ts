import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

export interface HttpReply {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: AsyncIterable<Uint8Array>
  /** Lets go of the connection: kept for the next request if the body ends soon, closed otherwise. */
  release(): void
}

export interface Transport {
  post(
    url: URL,
    headers: Readonly<Record<string, string>>,
    /** Sent one after the other. */
    body: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<HttpReply>
  /** Opens a connection for the first request, best effort. */
  warm?(url: URL): Promise<void>
  close(): void
}

interface Client {
  readonly agent: Agent
  readonly request: (url: URL, options: RequestOptions) => ClientRequest
  /** A socket opened ahead of the request that will use it. */
  spare: { readonly socket: Socket; readonly port: number } | undefined
}

type Connect = (options: object, done?: (...args: never[]) => void) => Socket

/** How long a body may go on after its last useful byte before the connection is given up. */
const DRAIN_MS = 1000
const MAX_REDIRECTS = 3
/** A connection that lay idle for so long may have been closed unnoticed; a reset sooner is the server's answer. */
const STALE_MS = 1000

/** A direct connection over `node:http(s)`, kept alive between requests. TLS is loaded when an address needs it. */
export function createDirectTransport(ca: string[] | undefined): Transport {
  const clients = new Map<string, Promise<Client>>()
  /** When a connection was last put aside, or opened ahead. */
  const idleSince = new WeakMap<Socket, number>()
  let closed = false

  const clientFor = (protocol: string): Promise<Client> => {
    let client = clients.get(protocol)
    if (client === undefined) {
      client = openClient(protocol === 'https:')
      clients.set(protocol, client)
    }
    return client
  }

  const openClient = async (secure: boolean): Promise<Client> => {
    const { Agent: AgentOf, request } = secure ? await import('node:https') : await import('node:http')
    const agent = new AgentOf({
      keepAlive: true,
      keepAliveMsecs: 15_000,
      ...(secure && ca !== undefined ? { ca } : {}),
    })
    const client: Client = { agent, request, spare: undefined }
    agent.on('free', (socket: Socket) => void idleSince.set(socket, Date.now()))
    const connecting = agent as unknown as { createConnection: Connect }
    const connect = connecting.createConnection.bind(agent)
    connecting.createConnection = (options, done) => takeSpare(client, options) ?? connect(options, done)
    return client
  }

  const takeSpare = (client: Client, options: { port?: unknown }): Socket | undefined => {
    const { spare } = client
    if (spare === undefined || spare.port !== Number(options.port)) return undefined
    client.spare = undefined
    if (spare.socket.destroyed) return undefined
    spare.socket.ref()
    return spare.socket
  }

  const once = async (
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<IncomingMessage> => {
    const { agent, request: open } = await clientFor(url.protocol)
    const started = Date.now()
    return new Promise((resolve, reject) => {
      const length = body.reduce((sum, part) => sum + part.byteLength, 0)
      const options = { method: 'POST', agent, headers: { ...headers, 'content-length': length }, signal }
      const request = open(url, options)
      request.once('response', resolve)
      request.once('error', (error: NodeJS.ErrnoException) => {
        const idle = started - (idleSince.get(request.socket as Socket) ?? started)
        const gone = error.code === 'ECONNRESET' || error.code === 'EPIPE'
        // The server closed the connection while it lay idle: nothing was answered, so nothing is lost by asking again.
        if (gone && idle >= STALE_MS && !signal.aborted) once(url, headers, body, signal).then(resolve, reject)
        else reject(error)
      })
      for (const part of body) request.write(part)
      request.end()
    })
  }

  return {
    async post(url, headers, body, signal) {
      let target = url
      let sent = headers
      for (let hops = 0; ; hops++) {
        const response = await once(target, sent, body, signal)
        const { location } = response.headers
        const status = response.statusCode ?? 0
        if ((status !== 307 && status !== 308) || location === undefined || hops === MAX_REDIRECTS)
          return reply(response, status)
        response.resume()
        const next = new URL(location, target)
        if (next.origin !== target.origin) sent = withoutKey(sent)
        target = next
      }
    },
    async warm(url) {
      const client = await clientFor(url.protocol)
      if (closed || client.spare !== undefined) return
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
      const connecting = client.agent as unknown as { createConnection: Connect }
      const socket = connecting.createConnection({
        host,
        port,
        servername: isIP(host) === 0 ? host : '',
        ...(ca === undefined ? {} : { ca }),
      })
      socket.on('error', () => {})
      socket.unref()
      idleSince.set(socket, Date.now())
      client.spare = { socket, port }
    },
    close() {
      closed = true
      for (const opened of clients.values())
        opened.then(
          ({ agent, spare }) => {
            agent.destroy()
            spare?.socket.destroy()
          },
          () => {},
        )
    },
  }
}

function reply(response: IncomingMessage, status: number): HttpReply {
  const body = decoded(response, response.headers['content-encoding'])
  return {
    status,
    header: (name) => {
      const value = response.headers[name]
      return Array.isArray(value) ? value[0] : value
    },
    body: { [Symbol.asyncIterator]: () => body.iterator({ destroyOnReturn: false }) },
    release() {
      if (response.complete || response.destroyed) return
      response.on('error', () => {})
      const timer = setTimeout(() => response.destroy(), DRAIN_MS)
      timer.unref()
      response.once('close', () => clearTimeout(timer))
      response.resume()
    },
  }
}

/** Nothing compressed is asked for, but a gateway may send it all the same. */
export function decoded(body: Readable, encoding: string | string[] | undefined): Readable {
  if (encoding === undefined) return body
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
  if (encoding === 'gzip' || encoding === 'x-gzip') return pipeline(body, createGunzip(flush), () => {})
  if (encoding === 'deflate') return pipeline(body, createInflate(flush), () => {})
  if (encoding === 'br') return pipeline(body, createBrotliDecompress(), () => {})
  return body
}

/** A key is for the origin that it was configured for. */
function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}
