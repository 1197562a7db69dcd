import * as http from 'node:http'
import * as https from 'node:https'
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
  post(url: URL, headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<HttpReply>
  close(): void
}

/** How long a body may go on after its last useful byte before the connection is given up. */
const DRAIN_MS = 1000
const MAX_REDIRECTS = 3

/** A direct connection over `node:http(s)`, kept alive between requests. */
export function createDirectTransport(ca: string[] | undefined): Transport {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, keepAliveMsecs: 15_000 }),
    'https:': new https.Agent({ keepAlive: true, keepAliveMsecs: 15_000, ...(ca === undefined ? {} : { ca }) }),
  }

  const once = (
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const secure = url.protocol === 'https:'
      const request = (secure ? https : http).request(url, {
        method: 'POST',
        agent: secure ? agents['https:'] : agents['http:'],
        headers: { ...headers, 'content-length': body.length },
        signal,
      })
      request.once('response', resolve)
      request.once('error', (error) => {
        // A kept connection that the server closed meanwhile: nothing was answered, so nothing is lost by asking again.
        if (request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET' && !signal.aborted)
          once(url, headers, body, signal).then(resolve, reject)
        else reject(error)
      })
      request.end(body)
    })

  return {
    async post(url, headers, body, signal) {
      const bytes = Buffer.from(body)
      let target = url
      let sent = headers
      for (let hops = 0; ; hops++) {
        const response = await once(target, sent, bytes, signal)
        const location = response.headers.location
        const status = response.statusCode ?? 0
        if ((status !== 307 && status !== 308) || location === undefined || hops === MAX_REDIRECTS)
          return reply(response, status)
        response.resume()
        const next = new URL(location, target)
        if (next.origin !== target.origin) sent = withoutKey(sent)
        target = next
      }
    },
    close() {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

function reply(response: http.IncomingMessage, status: number): HttpReply {
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
